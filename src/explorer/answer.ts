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

/** Whatever begins like a token, to its end, so that no text is looked at twice. */
const TOKENS = /\beyJ[\w-]*(?:\.[\w-]+){0,2}|\bwgr_[\w-]*/g

/** Tokens cut short, for what is shown or shared. */
export function withoutTokens(text: string): string {
  return text.replace(TOKENS, (found) => {
    if (found.startsWith('wgr_')) return found.length < 24 ? found : `${found.slice(0, 8)}…`
    const [header = '', ...others] = found.split('.')
    return header.length < 11 || others.length < 2 ? found : `${found.slice(0, 11)}…`
  })
}

export function sizeText(byteLength: number): string {
  if (byteLength < 1_000) return `${byteLength} B`
  if (byteLength < 1_000_000) return `${(byteLength / 1_000).toFixed(1)} kB`
  return `${(byteLength / 1_000_000).toFixed(1)} MB`
}
