// What was found of a server, for people, programs and build servers.
import type { CheckResult, Outcome } from '../../conformance/check.ts'

const IN_WORDS: Record<Outcome, string> = {
  pass: 'pass',
  fail: 'FAIL',
  silent: 'contract silent',
  skipped: 'not tried',
}

/** A line for each check under its group, then the counts. */
export function toTable(url: string, results: readonly CheckResult[]): string {
  const width = Math.max(...Object.values(IN_WORDS).map(({ length }) => length))
  const groups = [...Map.groupBy(results, ({ group }) => group)].map(([group, checks]) => {
    const lines = checks.map(({ outcome, name, found }) => {
      const behind = found === '' ? '' : `: ${found}`
      return `  ${IN_WORDS[outcome].padEnd(width)}  ${name}${behind}`
    })
    return [group, ...lines].join('\n')
  })
  return `${[url, ...groups].join('\n\n')}\n\n${countsInWords(results)}\n`
}

export function toJson(url: string, results: readonly CheckResult[]): string {
  const counts = Object.fromEntries(outcomes().map((outcome) => [outcome, countOf(results, outcome)]))
  return `${JSON.stringify({ url, counts, checks: results }, null, 2)}\n`
}

/** As most build servers read it: a suite for each group. */
export function toJUnit(url: string, results: readonly CheckResult[]): string {
  const suites = [...Map.groupBy(results, ({ group }) => group)].map(
    ([group, checks]) =>
      `  <testsuite name="${xml(group)}" ${countsAsAttributes(checks)}>\n${checks.map(toTestCase).join('')}  </testsuite>\n`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${xml(url)}" ${countsAsAttributes(results)}>\n${suites.join('')}</testsuites>\n`
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

function outcomes(): readonly Outcome[] {
  return ['pass', 'fail', 'silent', 'skipped']
}

function countOf(results: readonly CheckResult[], outcome: Outcome): number {
  return results.filter((result) => result.outcome === outcome).length
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Without what XML 1.0 cannot hold (section 2.2). */
function xml(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
}
