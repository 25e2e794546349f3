// An answer as the pages keep it, and what of it may be shown.

export interface Answer {
  readonly status: number
  readonly durationMs: number
  readonly byteLength: number
  readonly text: string
}

export async function timed(send: () => Promise<Response>): Promise<Answer> {
  const began = performance.now()
  const response = await send()
  const bytes = await response.arrayBuffer()
  return {
    status: response.status,
    durationMs: networkMs(response.url, began) ?? performance.now() - began,
    byteLength: bytes.byteLength,
    text: new TextDecoder().decode(bytes),
  }
}

/** Without the time that this page itself was busy; undefined where the browser does not say. */
function networkMs(url: string, began: number): number | undefined {
  const entry = performance
    .getEntriesByName(url)
    .find((one) => one instanceof PerformanceResourceTiming && one.startTime >= began)
  return entry && entry.duration > 0 ? entry.duration : undefined
}

const TOKENS = /\b(eyJ[\w-]{8})[\w-]*\.[\w-]+\.[\w-]+|\b(wgr_[\w-]{4})[\w-]{16,}/g

/** Tokens cut short, for what is shown or shared. */
export function withoutTokens(text: string): string {
  return text.replace(TOKENS, (_, access: string | undefined, refresh: string | undefined) => `${access ?? refresh}…`)
}

export function sizeText(byteLength: number): string {
  if (byteLength < 1_000) return `${byteLength} B`
  if (byteLength < 1_000_000) return `${(byteLength / 1_000).toFixed(1)} kB`
  return `${(byteLength / 1_000_000).toFixed(1)} MB`
}
