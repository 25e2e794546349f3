// Declares the part of autocannon that the benchmark uses. The package has no types.
declare module 'autocannon' {
  interface Request {
    readonly method: string
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
  }
  interface Client {
    readonly setRequests: (requests: readonly Request[]) => void
  }
  interface Options {
    readonly url: string
    readonly connections: number
    /** Seconds. */
    readonly duration?: number
    /** Number of requests, instead of a duration. */
    readonly amount?: number
    readonly setupClient: (client: Client) => void
  }
  interface Result {
    readonly errors: number
    readonly '4xx': number
    readonly '5xx': number
    /** Seconds. */
    readonly duration: number
    readonly requests: { readonly total: number }
    /** Whole milliseconds. */
    readonly latency: { readonly p50: number; readonly p99: number }
  }
  function autocannon(options: Options): Promise<Result>
  // biome-ignore lint/style/noDefaultExport: autocannon's own
  export default autocannon
}
