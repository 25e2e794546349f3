// Two gateways on one database that restart one after the other without turning anybody away, and what they logged.
import { type ServingProcess, serve } from '../../support/command-line.ts'
import { jsonLines } from '../../support/json-lines.ts'
import type { SwitchFront } from '../../support/switch-front.ts'

export interface LoggedDifference {
  readonly route: string
  readonly user: string
  readonly ref: string | null
  readonly ours: number
  readonly old: number
  readonly at: number | null
}

export interface ShadowCounts {
  readonly equal: number
  readonly different: number
  readonly skipped: Readonly<Record<string, number>>
}

interface Line {
  readonly level: number
  readonly msg: string
  readonly shadow?: LoggedDifference & ShadowCounts
}

export interface EndedNode {
  readonly exitCode: number | null
  readonly differences: readonly LoggedDifference[]
  /** The last counts that were logged; undefined when nothing was compared. */
  readonly counts: ShadowCounts | undefined
  readonly stderr: string
}

export interface Nodes extends AsyncDisposable {
  readonly urls: () => readonly string[]
  /** The differences that each running gateway has found so far. */
  readonly differences: () => readonly (readonly LoggedDifference[])[]
  /** Replaces the gateways behind the front one after the other, with other options; returns those that ended. */
  readonly restart: (front: SwitchFront, args: readonly string[]) => Promise<readonly EndedNode[]>
  readonly stop: () => Promise<readonly EndedNode[]>
}

const SERVE_OPTIONS = ['--attempts-per-minute', '0', '--no-demo']

export async function startNodes(database: string, args: readonly string[]): Promise<Nodes> {
  const start = (more: readonly string[]) => serve(['--database', database, ...SERVE_OPTIONS, ...more])
  let nodes: readonly ServingProcess[] = await Promise.all([start(args), start(args)])
  const urls = () => nodes.map(({ url }) => url)

  async function stop(): Promise<readonly EndedNode[]> {
    const ended = await Promise.all(nodes.map(end))
    nodes = []
    return ended
  }

  return {
    urls,
    differences: () => nodes.map((node) => jsonLines(node.stderr()).flatMap(toDifference)),
    async restart(front, more) {
      const [leaving, next] = [nodes, await Promise.all(nodes.map(() => start(more)))]
      const ended: EndedNode[] = []
      for (const [index, node] of leaving.entries()) {
        nodes = [...leaving.slice(index + 1), ...next.slice(0, index + 1)]
        front.switchTo(urls())
        ended.push(await end(node))
      }
      return ended
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop()
    },
  }
}

async function end(node: ServingProcess): Promise<EndedNode> {
  const exitCode = await node.kill('SIGTERM')
  const lines: readonly Line[] = jsonLines(node.stderr())
  return {
    exitCode,
    differences: lines.flatMap(toDifference),
    counts: lines.findLast(({ msg }) => msg === 'compared with the old server')?.shadow,
    stderr: node.stderr(),
  }
}

function toDifference({ msg, shadow }: Line): readonly LoggedDifference[] {
  return msg === 'the old server answers differently' && shadow ? [shadow] : []
}
