// Formats the findings of the doctor, as a table for people and as JSON for programs.
import { toLine } from '../../redact.ts'
import type { Outcome, Place } from './check.ts'
import type { DoctorConfig } from './doctor-options.ts'

const PROXIES: readonly Place[] = ['nginx', 'haproxy', 'caddy', 'apache']
const NAMES: Readonly<Record<Place, string>> = {
  gateway: 'gateway',
  nginx: 'nginx',
  haproxy: 'HAProxy',
  caddy: 'Caddy',
  apache: 'Apache',
  postgresql: 'PostgreSQL',
  run: 'run',
}

/** `proxy` is the proxy that answered, or null if unknown. The table leaves out the lines for other proxies. */
export function toReport(outcomes: readonly Outcome[], format: DoctorConfig['format'], proxy: Place | null): string {
  return format === 'json' ? toJson(outcomes) : toTable(outcomes, proxy)
}

export function countFindings(outcomes: readonly Outcome[]): number {
  return outcomes.filter((outcome) => 'problem' in outcome).length
}

function toJson(outcomes: readonly Outcome[]): string {
  const report = {
    findings: outcomes.filter((outcome) => 'problem' in outcome),
    passed: outcomes.filter((outcome) => 'isFine' in outcome).map(({ check }) => check),
    notChecked: outcomes.filter((outcome) => 'reason' in outcome),
  }
  return `${JSON.stringify(report, (_name, value: unknown) => (typeof value === 'string' ? toLine(value) : value), 2)}\n`
}

function toTable(outcomes: readonly Outcome[], proxy: Place | null): string {
  const width = Math.max(...outcomes.map(({ check }) => check.length))
  const lines = outcomes.flatMap((outcome) => {
    const name = outcome.check.padEnd(width)
    if ('isFine' in outcome) return [`ok       ${name}`]
    if ('reason' in outcome) return [`skipped  ${name}  ${outcome.reason}`]
    const fixes = Object.entries(outcome.fix) as readonly [Place, string][]
    const isShown = ([place]: readonly [Place, string]) => proxy === null || place === proxy || !PROXIES.includes(place)
    return [
      `FOUND    ${name}  ${outcome.problem}`,
      ...fixes.filter(isShown).map(([place, line]) => `${' '.repeat(11 + width)}${NAMES[place]}: ${line}`),
    ]
  })
  const count = countFindings(outcomes)
  return `${lines.map(toLine).join('\n')}\n\n${count === 0 ? 'nothing found' : `${count} found`}\n`
}
