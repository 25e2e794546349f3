// move: everything from one database into another, sessions and keys too.
import type { MoveConfig } from '../config.ts'
import { UsageError } from '../errors.ts'
import { type MoveCounts, MoveError, move } from '../interchange/move.ts'
import type { CommandIo, ExitCode } from './io.ts'
import { openCommandStore } from './open-command-store.ts'

const REDRAW_MS = 100
const CLEAR_LINE = '\r\u001b[2K'

export async function runMove(config: MoveConfig, io: CommandIo): Promise<ExitCode> {
  const { from, to } = config
  if (from === to) throw new UsageError('--from and --to are the same database')
  await using source = await openCommandStore({ ...config, database: from }, true)
  await using target = await openCommandStore({ ...config, database: to })
  const start = performance.now()
  const draw = createMoveProgress(io)
  try {
    const counts = await move(source, target, io.clock, draw)
    if (io.isTerminal) io.stderr.write(CLEAR_LINE)
    const seconds = ((performance.now() - start) / 1_000).toFixed(1)
    io.stdout.write(`moved ${inWords(counts)}; all compared by digest (${seconds} s)\n`)
    return 0
  } catch (error) {
    if (io.isTerminal) io.stderr.write(CLEAR_LINE)
    if (!(error instanceof MoveError)) throw error
    io.stderr.write(`${error.message}\n`)
    return 1
  }
}

function createMoveProgress({ stderr, isTerminal }: CommandIo): (counts: Readonly<MoveCounts>) => void {
  const start = performance.now()
  let drawnAt = Number.NEGATIVE_INFINITY
  return (counts) => {
    const now = performance.now()
    if (!isTerminal || now - drawnAt < REDRAW_MS) return
    drawnAt = now
    const perSecond = Math.round((1_000 * (counts.documents + counts.exports)) / Math.max(now - start, 1))
    stderr.write(`${CLEAR_LINE}moving: ${inWords(counts)}; ${perSecond.toLocaleString('en')} documents and exports/s`)
  }
}

function inWords({ users, usersThereBefore, documents, exports, sessions, keys }: Readonly<MoveCounts>): string {
  const before = usersThereBefore > 0 ? ` (${usersThereBefore} were there already)` : ''
  return `${users} users${before}, ${documents} documents, ${exports} exports, ${sessions} sessions, ${keys} signing keys`
}
