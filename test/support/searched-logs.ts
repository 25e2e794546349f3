// With TEST_LOGS set, searches every log that the gateways of a test file write for secrets when the file ends.
import { afterAll, expect } from 'vitest'

const logs = new Set<() => string>()
const known = new Set<string>()

/** Access and refresh tokens, client secrets, and email addresses, no matter who logged them. */
const SECRETS =
  /wg[rs]_[A-Za-z0-9_-]{8,}|eyJ[A-Za-z0-9_-]{8,}|[a-z0-9][a-z0-9.+_-]*@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}/gi

/** `read` returns the whole log so far. */
export function searchLog(read: () => string): void {
  if (process.env.TEST_LOGS) logs.add(read)
}

/** A mailed code is searched for by its value: no pattern distinguishes it from a word. */
export function searchFor(secret: string): void {
  if (process.env.TEST_LOGS && secret !== '') known.add(secret)
}

/** Must be called once for each test file. */
export function searchLogsAtEnd(): void {
  if (!process.env.TEST_LOGS) return
  afterAll(() => {
    const found = [...logs].flatMap((read) => {
      const text = read()
      return [...(text.match(SECRETS) ?? []), ...[...known].filter((secret) => text.includes(secret))]
    })
    console.info(`${logs.size} logs were searched`)
    logs.clear()
    known.clear()
    expect(found, 'secrets in a log').toEqual([])
  })
}
