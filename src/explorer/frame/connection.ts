// Whether the gateway answers: noticed by every request, and asked again and again once it does not.

export interface ConnectionState {
  readonly isUp: boolean
  /** Grows each time the gateway is back: whatever failed meanwhile may be tried again. */
  readonly timesBack: number
}

export interface Connection {
  readonly state: () => ConnectionState
  readonly subscribe: (listener: () => void) => () => void
  /** `fetch`, with its failures noticed. */
  readonly fetch: typeof fetch
  /** Asks now instead of at the next interval. */
  readonly probe: () => Promise<void>
}

export const PROBE_INTERVAL_MS = 3_000

/** `probeUrl` answers something, whatever it is, when the gateway is there. */
export function createConnection(fetchFrom: typeof fetch, probeUrl: string): Connection {
  const listeners = new Set<() => void>()
  let state: ConnectionState = { isUp: true, timesBack: 0 }
  let timer = 0

  function change(isUp: boolean): void {
    if (isUp === state.isUp) return
    state = { isUp, timesBack: state.timesBack + (isUp ? 1 : 0) }
    for (const listener of listeners) listener()
    clearInterval(timer)
    if (!isUp) timer = Number(setInterval(() => void probe(), PROBE_INTERVAL_MS))
  }

  async function probe(): Promise<void> {
    await observed(probeUrl, { cache: 'no-store' }).catch(() => null)
  }

  async function observed(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    try {
      const answer = await fetchFrom(input, init)
      change(true)
      return answer
    } catch (error) {
      if (!(error instanceof DOMException && error.name === 'AbortError')) change(false)
      throw error
    }
  }

  return {
    state: () => state,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    fetch: observed,
    probe,
  }
}

export const NOT_JSON = 'The answer is not JSON: something else may have answered, such as a proxy.'

/** What a person is told of a request that failed. */
export function failureText(error: unknown): string {
  if (error instanceof TypeError) return 'The gateway does not answer.'
  if (error instanceof SyntaxError) return NOT_JSON
  return error instanceof Error ? error.message : String(error)
}
