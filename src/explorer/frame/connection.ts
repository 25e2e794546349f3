// Tracks whether the gateway is reachable: every request updates the state, and a timer probes while it is down.

export interface ConnectionState {
  readonly isUp: boolean
  /** Whether something in front of the gateway redirects the requests, as to its own sign-in. `isUp` is then false. */
  readonly isRedirected: boolean
  /** Increases each time the gateway is reachable again. Requests that failed meanwhile may then be retried. */
  readonly timesBack: number
}

export interface Connection {
  readonly state: () => ConnectionState
  readonly subscribe: (listener: () => void) => () => void
  /** `fetch` that also updates the connection state. */
  readonly fetch: typeof fetch
  /** Probes now instead of at the next interval. Joins a probe that is on its way. */
  readonly probe: () => Promise<void>
  /** Waits for `answer`, and probes for as long as it is late: a gateway that hangs fails no request. */
  readonly watch: <T>(answer: Promise<T>) => Promise<T>
}

export const PROBE_INTERVAL_MS = 3_000
/** A request may take longer, such as a large query. The gateway is then probed each time that this has passed again. */
export const LATE_AFTER_MS = 10_000
/** A gateway that does not answer a probe for so long counts as unreachable. */
const PROBE_TAKES_MS = 5_000

/** Any response from `probeUrl` but a redirect, whatever its status, means that the gateway is reachable. */
export function createConnection(fetchFrom: typeof fetch, probeUrl: string): Connection {
  const listeners = new Set<() => void>()
  let state: ConnectionState = { isUp: true, isRedirected: false, timesBack: 0 }
  let probing: Promise<void> | null = null
  let timer = 0

  function change(isUp: boolean, isRedirected = false): void {
    const before = state
    if (isUp === before.isUp && isRedirected === before.isRedirected) return
    state = { isUp, isRedirected, timesBack: before.timesBack + (isUp ? 1 : 0) }
    for (const listener of listeners) listener()
    if (isUp === before.isUp) return
    clearInterval(timer)
    if (!isUp) timer = Number(setInterval(() => void probe(), PROBE_INTERVAL_MS))
  }

  /** One at a time: the end of an older probe without an answer would contradict the answer to a newer one. */
  function probe(): Promise<void> {
    probing ??= fetchWithin(PROBE_TAKES_MS, observed, probeUrl, { cache: 'no-store' }).then(probed, probed)
    return probing
  }

  function probed(): void {
    probing = null
  }

  function watch<T>(answer: Promise<T>): Promise<T> {
    const probes = setInterval(() => void probe(), LATE_AFTER_MS)
    return answer.finally(() => clearInterval(probes))
  }

  async function observed(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const answer = await watch(fetchFrom(input, { ...init, redirect: 'manual' })).catch((error: unknown) => {
      if (!(error instanceof DOMException && error.name === 'AbortError')) change(false)
      throw error
    })
    change(!isRedirect(answer), isRedirect(answer))
    if (isRedirect(answer)) throw new Error(REDIRECTED)
    return answer
  }

  return {
    state: () => state,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    fetch: observed,
    probe,
    watch,
  }
}

/** Of an answer to a request with `redirect: 'manual'`. The gateway itself never redirects. */
export function isRedirect({ type }: Response): boolean {
  return type === 'opaqueredirect'
}

/** Fails like a request to a gateway that cannot be reached if no answer has begun after `milliseconds`. */
export async function fetchWithin(
  milliseconds: number,
  fetchFrom: typeof fetch,
  url: string,
  init: RequestInit = {},
): Promise<Response> {
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(new TypeError('no answer in time')), milliseconds)
  return fetchFrom(url, { ...init, signal: ending.signal }).finally(() => clearTimeout(timer))
}

/** A reload would go there too, but would sign out whoever is signed in here. */
export const REDIRECTED =
  'Something in front of the gateway redirects elsewhere, such as to its own sign-in. Open this address in another tab to get there.'
export const NOT_JSON = 'The answer is not JSON: something else may have answered, such as a proxy.'

/** The message that the pages show for a failed request. */
export function failureText(error: unknown): string {
  if (error instanceof TypeError) return 'The gateway does not answer.'
  if (error instanceof SyntaxError) return NOT_JSON
  return error instanceof Error ? error.message : String(error)
}
