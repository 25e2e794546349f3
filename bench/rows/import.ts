// The row that imports a million documents, compared with a loop that only inserts the same rows.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, statSync } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import type { Bench } from '../bench.ts'
import { DOCUMENTS, documentOf } from '../data/import-documents.ts'
import { memoryMiB } from '../measuring/memory.ts'
import type { Row } from '../row.ts'

const INSERT_LOOP = fileURLToPath(new URL('../programs/insert-loop.ts', import.meta.url))
const LOOK_MS = 100

interface Run {
  readonly seconds: number
  readonly peakMemoryMiB: number
}

export const IMPORT_ROW: Row = {
  name: 'import',
  async run(bench) {
    const input = join(bench.directory, 'documents.ndjson')
    await writeDocuments(input)
    const loop = await runToEnd(bench, [INSERT_LOOP, join(bench.directory, 'insert-loop.db')])
    const ours = await runToEnd(bench, [
      bench.program,
      'import',
      input,
      '--database',
      `file:${join(bench.directory, 'import.db')}`,
    ])
    const lineOf = (name: string, { seconds, peakMemoryMiB }: Run) =>
      `${name.padEnd(24)}${`${seconds.toFixed(1)} s`.padStart(10)}${`${(DOCUMENTS / seconds).toFixed(0)} documents/s`.padStart(22)}${`${peakMemoryMiB.toFixed(0)} MiB`.padStart(10)}`
    return {
      lines: [
        `${(statSync(input).size / 1e6).toFixed(0)} MB`,
        lineOf('bare insert loop', loop),
        lineOf('import', ours),
      ],
      goals: [
        {
          what: 'import / bare insert loop',
          figure: loop.seconds / ours.seconds,
          atLeast: 0.4,
          note: 'one run each',
          why: 'every line is read twice, and committed in parts that let others write',
        },
        { what: `memory for ${DOCUMENTS} documents`, figure: ours.peakMemoryMiB, unit: 'MiB', atMost: 300 },
      ],
      data: { loop, ours },
    }
  },
}

async function writeDocuments(path: string): Promise<void> {
  const file = createWriteStream(path)
  for (let index = 0; index < DOCUMENTS; index += 1) {
    const { email, text } = documentOf(index)
    if (!file.write(`{"kind":"project","email":"${email}","data":${text}}\n`)) await once(file, 'drain')
  }
  file.end()
  await finished(file)
}

/** The time includes the start of the process. */
async function runToEnd(bench: Bench, args: readonly string[]): Promise<Run> {
  const [file = '', ...rest] = [...bench.onServerProcessor, process.execPath, ...args]
  const started = performance.now()
  const child = spawn(file, rest, { stdio: ['ignore', 'ignore', 'inherit'] })
  let peakMemoryMiB = Number.NaN
  const look = setInterval(() => {
    const peak = memoryMiB(child.pid ?? 0, 'VmHWM')
    if (!Number.isNaN(peak)) peakMemoryMiB = peak
  }, LOOK_MS)
  const [code] = await once(child, 'close')
  clearInterval(look)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`)
  return { seconds: (performance.now() - started) / 1_000, peakMemoryMiB }
}
