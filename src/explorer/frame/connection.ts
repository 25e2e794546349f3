// Tracks whether the gateway is reachable: every request updates the state, and a timer probes while it is down.

export interface ConnectionState {
  readonly isUp: boolean
  /** Increases each time the gateway is reachable again. Requests that failed meanwhile may then be retried. */
  readonly timesBack: number
}

export interface Connection {
  readonly state: () => ConnectionState
  readonly subscribe: (listener: () => void) => () => void
  /** `fetch` that also updates the connection state. */
  readonly fetch: typeof fetch
  /** Probes now instead of at the next interval. */
  readonly probe: () => Promise<void>
}

export const PROBE_INTERVAL_MS = 3_000

/** Any response from `probeUrl`, whatever its status, means that the gateway is reachable. */
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

/** The message that the pages show for a failed request. */
export function failureText(error: unknown): string {
  if (error instanceof TypeError) return 'The gateway does not answer.'
  if (error instanceof SyntaxError) return NOT_JSON
  return error instanceof Error ? error.message : String(error)
}
