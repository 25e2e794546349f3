// Checks a header of an answer and describes a mismatch for the report.
import type { ProbeAnswer } from '../exchange.ts'

/** Null if the header matches. The returned text contains its value, so do not use it for headers that hold tokens. */
export function unlessHeader({ headers }: Pick<ProbeAnswer, 'headers'>, name: string, expected: RegExp): string | null {
  const value = headers[name]
  const text = Array.isArray(value) ? value.join(', ') : value
  if (text === undefined) return `there is no ${name}`
  return expected.test(text) ? null : `${name} is ${text}`
}
