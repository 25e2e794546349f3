// The `fetch` wrapper of the guide for frontends that waits while the gateway is busy.

/** Starts the wait; tests pass one that takes no time. */
export type SetTimeout = (resolve: (value: unknown) => void, milliseconds: number) => void

export function createPatientFetch(setTimeout: SetTimeout): typeof fetch {
  return async function patientFetch(...[input, init]: Parameters<typeof fetch>) {
    const request = new Request(input, init)
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(request.clone())
      if (response.status !== 503 || attempt === 3) return response
      // A proxy may have sent a date, or nothing.
      const seconds = Number(response.headers.get('retry-after')) || attempt
      if (seconds > 10) return response
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    }
  }
}
