// Rows about signed-in reads on SQLite, with and without kept replies, compared with a bare server and the peers.
import type { Bench } from '../bench.ts'
import { entityTagsOf, sampleOf, type Workspace } from '../data/workspaces.ts'
import { type LoadRequest, uniformPlan } from '../load/plan.ts'
import {
  type Contender,
  requireGraphQLType,
  requireSame,
  type SideBySide,
  sideBySide,
} from '../measuring/side-by-side.ts'
import type { Row } from '../row.ts'
import { startBare, startGateway, startPeer } from '../servers/start.ts'
import { accepting, NESTED_LIST, PROJECT_LIST, PROJECT_LIST_BY_GET, PROJECTS } from './requests.ts'

const PROJECTS_IF_CHANGED: LoadRequest = {
  ...PROJECTS,
  headers: { ...PROJECTS.headers, 'if-none-match': '{{etag}}' },
}

type PeerName = 'fastify' | 'mercurius' | 'apollo' | 'yoga'
type ContenderName = 'gateway' | 'gateway without cache' | 'bare' | PeerName

interface ReadRow extends Pick<SideBySide, 'goals'> {
  readonly name: string
  readonly request: LoadRequest
  readonly subject: ContenderName
  readonly contenders: readonly ContenderName[]
}

/** Measured with profiles of both. docs/decisions/http.md lists what was tried. */
const BESIDE_BARE =
  'one start differs from the next by 4 %; of what is more than bare, 39 % are the functions of the gateway, 30 % looking up ' +
  'token, session and reply in memory that no cache of the processor holds'

const READS: readonly ReadRow[] = [
  {
    name: 'rest-warm',
    request: PROJECTS,
    subject: 'gateway',
    contenders: ['bare', 'gateway', 'fastify'],
    goals: [{ against: 'bare', atLeast: 0.8, why: BESIDE_BARE }],
  },
  {
    name: 'rest-uncached',
    request: PROJECTS,
    subject: 'gateway without cache',
    contenders: ['bare', 'gateway without cache', 'fastify'],
    goals: [{ against: 'fastify', atLeast: 2 }],
  },
  {
    name: 'rest-not-modified',
    request: PROJECTS_IF_CHANGED,
    subject: 'gateway',
    contenders: ['bare', 'gateway'],
    goals: [{ against: 'bare', atLeast: 0.85, why: BESIDE_BARE }],
  },
  {
    // Only the gateway keeps replies, so no peer takes part here. `graphql-list` below compares like with like.
    name: 'graphql-list-kept',
    request: PROJECT_LIST,
    subject: 'gateway',
    contenders: ['bare', 'gateway'],
    goals: [{ against: 'bare', atLeast: 0.6 }],
  },
  {
    name: 'graphql-list-kept-get',
    request: PROJECT_LIST_BY_GET,
    subject: 'gateway',
    contenders: ['bare', 'gateway'],
    goals: [{ against: 'bare', atLeast: 0.6 }],
  },
  {
    name: 'graphql-list-kept-compressed',
    request: accepting(PROJECT_LIST, { 'accept-encoding': 'gzip, deflate, br, zstd' }),
    subject: 'gateway',
    contenders: ['bare', 'gateway'],
    goals: [{ against: 'bare', atLeast: 0.6 }],
  },
  {
    name: 'graphql-list',
    request: PROJECT_LIST,
    subject: 'gateway without cache',
    contenders: ['bare', 'gateway without cache', 'mercurius', 'apollo', 'yoga'],
    goals: [
      { against: 'mercurius', atLeast: 2.5 },
      { against: 'apollo', atLeast: 6 },
      { against: 'yoga', atLeast: 6 },
    ],
  },
  {
    name: 'graphql-nested',
    request: NESTED_LIST,
    subject: 'gateway without cache',
    contenders: ['bare', 'gateway without cache', 'mercurius', 'apollo', 'yoga'],
    goals: [{ against: 'mercurius', atLeast: 2.2 }],
  },
]

export const READ_ROWS: readonly Row[] = READS.map(({ name, request, subject, contenders, goals }) => ({
  name,
  async run(bench) {
    const workspace = await bench.workspace()
    const users = request === PROJECTS_IF_CHANGED ? await entityTagsOf(bench, workspace) : workspace.users
    const sample = await sampleOf(bench, workspace, request, users)
    const toContender = (contender: ContenderName): Contender => ({
      name: contender,
      start: () => start(bench, workspace, contender, sample),
      check(answer, mediaType) {
        // Compressed answers are not compared: only the gateway sends them, and the bare server, which replays its bytes.
        if (sample.status !== 200 || sample.headers['content-encoding'] !== undefined) return
        if (request.path.startsWith('/graphql')) requireGraphQLType(contender, mediaType)
        requireSame(contender, JSON.parse(answer), JSON.parse(Buffer.from(sample.bytes).toString()))
      },
    })
    return sideBySide(bench, {
      plan: uniformPlan(request, users),
      contenders: contenders.map(toContender),
      subject,
      goals,
    })
  },
}))

function start(
  bench: Bench,
  { databaseUrl, database }: Workspace,
  name: ContenderName,
  sample: Parameters<typeof startBare>[1],
) {
  if (name === 'bare') return startBare(bench, sample)
  if (name === 'gateway') return startGateway(bench, databaseUrl)
  if (name === 'gateway without cache') return startGateway(bench, databaseUrl, '--cache-bytes', '0')
  return startPeer(bench, name, { DATABASE: database })
}
