// What program a request came from, in words of ours: nothing that a stranger wrote gets into a mail.

/** The first that fits. Browsers name each other, so the more special ones come first. */
const PROGRAMS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
  [/^PostmanRuntime\//, 'Postman'],
  [/^(?:node|undici)\b/, 'a Node.js program'],
  [/^(?:python-requests|Python-urllib|aiohttp|python-httpx)\b/, 'a Python program'],
  [/^(?:okhttp|Java|Apache-HttpClient)\b/, 'a Java program'],
  [/^Go-http-client\//, 'a Go program'],
]
const MAX_LENGTH = 1_000

/** Of a `User-Agent` header (RFC 9110 section 10.1.5). */
export function programName(userAgent: string | undefined): string {
  const text = userAgent?.slice(0, MAX_LENGTH) ?? ''
  return PROGRAMS.find(([pattern]) => pattern.test(text))?.[1] ?? 'an unknown program'
}
