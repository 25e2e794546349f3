// Describes the program that sent a request in fixed words, so that no text of a stranger gets into a mail.

/** The first match counts. Browsers name each other in their user agents, so the more specific patterns come first. */
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

/** Takes the value of the `User-Agent` header (RFC 9110 section 10.1.5). */
export function programName(userAgent: string | undefined): string {
  const text = userAgent?.slice(0, MAX_LENGTH) ?? ''
  return PROGRAMS.find(([pattern]) => pattern.test(text))?.[1] ?? 'an unknown program'
}
