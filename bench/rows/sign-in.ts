// Rows about logins and refreshes, 64 in flight, compared with one commit per login and with bare signing.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Bench } from '../bench.ts'
import { emailOf, sampleOf, type Workspace } from '../data/workspaces.ts'
import { type LoadPlan, type LoadRequest, uniformPlan } from '../load/plan.ts'
import { syncMilliseconds } from '../measuring/disk.ts'
import { median, medianOf, medianRatio } from '../measuring/figures.ts'
import { type ContenderFigures, type SideBySide, sideBySide } from '../measuring/side-by-side.ts'
import type { SigningFigures } from '../programs/signing.ts'
import type { Row, RowResult } from '../row.ts'
import { startBare, startGateway, startPeer } from '../servers/start.ts'

const SIGNING = fileURLToPath(new URL('../programs/signing.ts', import.meta.url))
const JSON_BODY = { 'content-type': 'application/json' }

export const LOGIN: LoadRequest = {
  method: 'POST',
  path: '/login',
  headers: JSON_BODY,
  body: '{"email":"{{email}}"}',
}
export const REFRESH: LoadRequest = {
  method: 'POST',
  path: '/token',
  headers: JSON_BODY,
  body: '{"refreshToken":"{{refreshToken}}"}',
}

export const LOGIN_ROW: Row = {
  name: 'login',
  async run(bench) {
    const workspace = await bench.workspace()
    const { database, databaseUrl } = workspace
    const users = Array.from({ length: bench.users }, (_, user) => ({ email: emailOf(user) }))
    const { measured, signed, lines, ceiling, floor } = await besideSigning(bench, workspace, LOGIN, users, {
      // A warm-up by time, because every request is a new login and never repeats.
      warmUpSeconds: bench.seconds,
      contenders: [
        { name: 'gateway', start: () => startGateway(bench, databaseUrl) },
        // The peer of the row `mix`: writes the same rows with the same durability, one per commit.
        { name: 'one commit per login', start: () => startPeer(bench, 'fastify-mercurius', { DATABASE: database }) },
      ],
      subject: 'gateway',
      goals: [{ against: 'one commit per login', atLeast: 8 }],
    })
    const each = measured.data.find(({ name }) => name === 'one commit per login')?.median.requestsPerSecond
    const reachable = (ceiling / (each ?? Number.NaN)).toFixed(1)
    const sync = syncMilliseconds(bench.directory).toFixed(2)
    const why = `the disk synchronizes in ${sync} ms, so one commit per login is fast too; with nothing but a signature and a request one processor would reach ${reachable}: ${floor}`
    return {
      lines,
      goals: measured.goals.map((goal) => ({ ...goal, why })),
      data: { servers: measured.data, signing: signed, syncMilliseconds: Number(sync) },
    }
  },
}

export const TOKEN_ROW: Row = {
  name: 'token',
  async run(bench) {
    const workspace = await bench.workspace()
    const { measured, signed, lines, ceiling, floor } = await besideSigning(
      bench,
      workspace,
      REFRESH,
      workspace.users,
      {
        contenders: [{ name: 'gateway', start: () => startGateway(bench, workspace.databaseUrl) }],
        subject: 'gateway',
        goals: [],
      },
    )
    const fastest = signed.map((round) => Math.max(...Object.values(round).map((one) => one.signaturesPerSecond)))
    const ours = measured.data.find(({ name }) => name === 'gateway')
    const rates = ours?.rounds.map((round) => round.requestsPerSecond) ?? []
    return {
      lines,
      goals: [
        {
          what: 'gateway / bare Ed25519 signing in its fastest way',
          figure: medianRatio(rates, fastest),
          atLeast: 0.7,
          why: `with nothing but a signature and a request one processor would reach ${(ceiling / median(fastest)).toFixed(2)}: ${floor}`,
        },
      ],
      data: { servers: measured.data, signing: signed },
    }
  },
}

/** Figures by the name of the signing API. */
type Signing = Readonly<Record<string, SigningFigures>>

interface BesideSigning {
  readonly measured: RowResult & { readonly data: readonly ContenderFigures[] }
  /** One entry for each round. */
  readonly signed: readonly Signing[]
  readonly lines: readonly string[]
  /** Requests per second that one processor could reach with only a signature and a bare request each. */
  readonly ceiling: number
  /** The cost of these two in words. */
  readonly floor: string
}

/**
 * Compares the contenders with the minimum cost of such a request: a signature, and bare node:http with the same
 * answer.
 */
async function besideSigning(
  bench: Bench,
  workspace: Workspace,
  request: LoadRequest,
  users: LoadPlan['users'],
  comparison: Omit<SideBySide, 'plan'>,
): Promise<BesideSigning> {
  const sample = await sampleOf(bench, workspace, request, users)
  const signed: Signing[] = []
  const measured = await sideBySide(bench, {
    ...comparison,
    plan: uniformPlan(request, users),
    contenders: [{ name: 'bare', start: () => startBare(bench, sample) }, ...comparison.contenders],
    async afterRound() {
      signed.push(await sign(bench, workspace.users[0]?.accessToken ?? ''))
    },
  })
  const ways = Object.keys(signed[0] ?? {}).map((way) => ({
    way,
    figures: medianOf(signed.map((round) => required(round[way]))),
  }))
  const signature = Math.min(...ways.map(({ figures }) => figures.cpuMicrosecondsPerSignature))
  const bare = measured.data[0]?.median.cpuMicrosecondsPerRequest ?? Number.NaN
  const signingLines = ways.map(
    ({ way, figures }) =>
      `nothing but signing, ${way}`.padEnd(46) +
      `${figures.signaturesPerSecond.toFixed(0)}/s`.padStart(10) +
      `${figures.cpuMicrosecondsPerSignature.toFixed(1)} µs CPU`.padStart(15),
  )
  return {
    measured,
    signed,
    lines: [...measured.lines, ...signingLines],
    ceiling: 1_000_000 / (signature + bare),
    floor: `a signature takes ${signature.toFixed(1)} µs, bare node:http ${bare.toFixed(1)} µs`,
  }
}

function required(figures: SigningFigures | undefined): SigningFigures {
  if (!figures) throw new Error('a round without figures')
  return figures
}

async function sign(bench: Bench, accessToken: string): Promise<Signing> {
  const input = accessToken.slice(0, accessToken.lastIndexOf('.'))
  const [file = '', ...args] = [...bench.onServerProcessor, process.execPath, SIGNING, input, String(bench.seconds / 2)]
  const { stdout } = await promisify(execFile)(file, args)
  return JSON.parse(stdout) as Signing
}
