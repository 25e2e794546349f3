// Every log that a gateway of the tests writes, searched for secrets when its test file ends: with TEST_LOGS set.
import { afterAll, expect } from 'vitest'

const logs = new Set<() => string>()
const known = new Set<string>()

/** Tokens of either kind, client secrets, and email addresses, whoever put them there. */
const SECRETS =
  /wg[rs]_[A-Za-z0-9_-]{8,}|eyJ[A-Za-z0-9_-]{8,}|[a-z0-9][a-z0-9.+_-]*@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}/gi

/** `read` gives all of it so far. */
export function searchLog(read: () => string): void {
  if (process.env.TEST_LOGS) logs.add(read)
}

/** A code that was mailed: no pattern tells it from a word. */
export function searchFor(secret: string): void {
  if (process.env.TEST_LOGS && secret !== '') known.add(secret)
}

/** To be called once for a test file. */
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
