// Writes the figures of a run as the Markdown page docs/benchmarks/results.md.
import { type Goal, isMet, type RowResult, toBound, toFigure } from './row.ts'

export interface RowReport extends RowResult {
  readonly name: string
  readonly seconds: number
  readonly isMet: boolean
  /** The error message of a row that failed. */
  readonly failed?: string
}

export interface Report {
  readonly machine: { readonly cpus: number; readonly model: string; readonly node: string }
  readonly settings: { readonly rounds: number; readonly seconds: number; readonly users: number }
  /** Duration of the whole run. */
  readonly seconds: number
  readonly rows: readonly RowReport[]
}

export function toMarkdown({ machine, settings, seconds, rows }: Report, now: Date): string {
  const { cpus, model, node } = machine
  const { rounds, seconds: each, users } = settings
  const run = `One run of ${Math.round(seconds / 60)} minutes on ${now.toISOString().slice(0, 10)}, on ${cpus} × ${model}, Node ${node}:
${rounds} rounds of ${each} s for each row, ${users} users.`
  return `# Results

${run}
\`npm run bench -- --markdown docs/benchmarks/results.md\` writes this page;
[method.md](method.md) says what each row compares.

A figure is a ratio within the run, unless it has a unit. **Bold** figures miss their goal. Rates differ from machine to
machine by more than most of these ratios do, so none are listed here.

| row | compared | figure | goal |
| --- | --- | --- | --- |
${rows.flatMap(toLines).join('\n')}
`
}

function toLines({ name, goals, skipped, failed, lines }: RowReport): readonly string[] {
  if (failed !== undefined) return [tableRow(name, 'the row failed', '', '')]
  if (skipped !== undefined) return [tableRow(name, `skipped: ${skipped}`, '', '')]
  if (goals.length === 0) return lines.map((line) => tableRow(name, line.trim().replace(/ {2,}/g, ', '), '', ''))
  return goals.map((goal) => tableRow(name, compared(goal), emphasized(goal), toBound(goal)))
}

function compared(goal: Goal): string {
  const { what, note, why } = goal
  const remarks = [note, isMet(goal) ? undefined : why].filter((remark) => remark !== undefined)
  return remarks.length === 0 ? what : `${what} (${remarks.join('; ')})`
}

function emphasized(goal: Goal): string {
  return isMet(goal) ? toFigure(goal) : `**${toFigure(goal)}**`
}

function tableRow(name: string, ...cells: readonly string[]): string {
  return `| \`${name}\` | ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
