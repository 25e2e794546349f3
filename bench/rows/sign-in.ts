// Logins and refreshes, 64 at once: beside one commit for each login, and beside nothing but signing.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Bench } from '../bench.ts'
import { medianOf, medianRatio } from '../figures.ts'
import { type LoadRequest, uniformPlan } from '../load/plan.ts'
import type { Row } from '../row.ts'
import { startBare, startGateway, startPeer } from '../servers.ts'
import { sideBySide } from '../side-by-side.ts'
import type { SigningFigures } from '../signing.ts'
import { emailOf, sampleOf } from '../workspaces.ts'

const SIGNING = fileURLToPath(new URL('../signing.ts', import.meta.url))
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
    const { database, databaseUrl } = await bench.workspace()
    const users = Array.from({ length: bench.users }, (_, user) => ({ email: emailOf(user) }))
    return sideBySide(bench, {
      plan: uniformPlan(LOGIN, users),
      // No request has a second time: each is a login.
      warmUpSeconds: bench.seconds,
      contenders: [
        { name: 'gateway', start: () => startGateway(bench, databaseUrl) },
        // The server of the mix: the same rows with the same durability, each committed by itself.
        { name: 'one commit per login', start: () => startPeer(bench, 'fastify-mercurius', { DATABASE: database }) },
      ],
      subject: 'gateway',
      goals: [{ against: 'one commit per login', atLeast: 8 }],
    })
  },
}

export const TOKEN_ROW: Row = {
  name: 'token',
  async run(bench) {
    const workspace = await bench.workspace()
    const sample = await sampleOf(bench, workspace, REFRESH, workspace.users)
    const signed: Signing[] = []
    const measured = await sideBySide(bench, {
      plan: uniformPlan(REFRESH, workspace.users),
      contenders: [
        { name: 'bare', start: () => startBare(bench, sample) },
        { name: 'gateway', start: () => startGateway(bench, workspace.databaseUrl) },
      ],
      subject: 'gateway',
      goals: [],
      async afterRound() {
        signed.push(await sign(bench, workspace.users[0]?.accessToken ?? ''))
      },
    })
    const ways = Object.keys(signed[0] ?? {}).map((way) => ({
      way,
      figures: medianOf(signed.map((round) => required(round[way]))),
    }))
    const fastest = signed.map((round) => Math.max(...Object.values(round).map((one) => one.signaturesPerSecond)))
    const ours = measured.data.find(({ name }) => name === 'gateway')
    const leastCpu = Math.min(...ways.map(({ figures }) => figures.cpuMicrosecondsPerSignature))
    return {
      ...measured,
      lines: [
        ...measured.lines,
        ...ways.map(
          ({ way, figures }) =>
            `nothing but signing, ${way}`.padEnd(46) +
            `${figures.signaturesPerSecond.toFixed(0)}/s`.padStart(10) +
            `${figures.cpuMicrosecondsPerSignature.toFixed(1)} µs CPU`.padStart(15),
        ),
      ],
      goals: [
        {
          what: 'gateway / bare Ed25519 signing in its fastest way',
          figure: medianRatio(ours?.rounds.map((round) => round.requestsPerSecond) ?? [], fastest),
          atLeast: 0.7,
          note: `by CPU per request ${(leastCpu / (ours?.median.cpuMicrosecondsPerRequest ?? Number.NaN)).toFixed(2)}`,
        },
      ],
      data: { servers: measured.data, signing: signed },
    }
  },
}

/** By way of signing. */
type Signing = Readonly<Record<string, SigningFigures>>

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
