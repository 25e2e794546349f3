// Formats the results of `conformance`: a table for people, JSON for programs, JUnit XML for build servers.
import type { CheckResult, Outcome } from '../../conformance/check.ts'
import type { Conformance } from '../../conformance/conformance.ts'
import { toLine } from '../../redact.ts'

const IN_WORDS: Record<Outcome, string> = {
  pass: 'pass',
  fail: 'FAIL',
  silent: 'contract silent',
  skipped: 'not tried',
}

/** One line for each check under its group, then the counts, and the sessions that stay open at the server. */
export function toTable(url: string, { checks: results, sessionsLeftOpen }: Conformance): string {
  const width = Math.max(...Object.values(IN_WORDS).map(({ length }) => length))
  const groups = [...Map.groupBy(results, ({ group }) => group)].map(([group, checks]) => {
    const lines = checks.map(({ outcome, name, found }) => {
      const behind = found === '' ? '' : `: ${toLine(found)}`
      return `  ${IN_WORDS[outcome].padEnd(width)}  ${name}${behind}`
    })
    return [group, ...lines].join('\n')
  })
  return `${[url, ...groups].join('\n\n')}\n\n${countsInWords(results)}\n${leftOpenInWords(sessionsLeftOpen)}`
}

export function toJson(url: string, { checks, sessionsLeftOpen }: Conformance): string {
  const counts = Object.fromEntries(outcomes().map((outcome) => [outcome, countOf(checks, outcome)]))
  return `${JSON.stringify({ url, counts, sessionsLeftOpen, checks }, null, 2)}\n`
}

/** JUnit XML: one suite for each group, and one without tests when sessions stay open. */
export function toJUnit(url: string, { checks: results, sessionsLeftOpen }: Conformance): string {
  const suites = [...Map.groupBy(results, ({ group }) => group)].map(([group, checks]) =>
    toSuite(group, checks, checks.map(toTestCase).join('')),
  )
  const leftOpen = leftOpenInWords(sessionsLeftOpen).trimEnd()
  if (leftOpen !== '') suites.push(toSuite('sessions', [], `    <system-err>${xml(leftOpen)}</system-err>\n`))
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${xml(url)}" ${countsAsAttributes(results)}>\n${suites.join('')}</testsuites>\n`
}

function toSuite(name: string, checks: readonly CheckResult[], inside: string): string {
  return `  <testsuite name="${xml(name)}" ${countsAsAttributes(checks)}>\n${inside}  </testsuite>\n`
}

function toTestCase({ group, name, source, outcome, found }: CheckResult): string {
  const inside = {
    pass: '',
    fail: `<failure type="${source}" message="${xml(found)}"/>`,
    silent: `<system-out>contract silent: ${xml(found)}</system-out>`,
    skipped: `<skipped message="${xml(found)}"/>`,
  }[outcome]
  return `    <testcase classname="${xml(group)}" name="${xml(name)}">${inside}</testcase>\n`
}

function countsAsAttributes(results: readonly CheckResult[]): string {
  return `tests="${results.length}" failures="${countOf(results, 'fail')}" errors="0" skipped="${countOf(results, 'skipped')}"`
}

function countsInWords(results: readonly CheckResult[]): string {
  return outcomes()
    .map((outcome) => `${countOf(results, outcome)} ${IN_WORDS[outcome].toLowerCase()}`)
    .join(', ')
}

/** One line, or '' when no session stays open. */
export function leftOpenInWords(count: number): string {
  if (count === 0) return ''
  return `${count} ${count === 1 ? 'session' : 'sessions'} of this run could not be signed out, and may stay open at the server until they expire\n`
}

function outcomes(): readonly Outcome[] {
  return ['pass', 'fail', 'silent', 'skipped']
}

function countOf(results: readonly CheckResult[], outcome: Outcome): number {
  return results.filter((result) => result.outcome === outcome).length
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes text for XML. Replaces characters that XML 1.0 does not allow (section 2.2). */
function xml(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
}
