// Headers of answers, in the words of a report.
import type { ProbeAnswer } from '../exchange.ts'

/** Null when the header matches; its value, as it is shown, holds no token. */
export function unlessHeader({ headers }: Pick<ProbeAnswer, 'headers'>, name: string, expected: RegExp): string | null {
  const value = headers[name]
  const text = Array.isArray(value) ? value.join(', ') : value
  if (text === undefined) return `there is no ${name}`
  return expected.test(text) ? null : `${name} is ${text}`
}
