// Signed-in reads on SQLite, warm and without kept replies, beside a bare server and the peers.
import type { Bench } from '../bench.ts'
import { type LoadRequest, uniformPlan } from '../load/plan.ts'
import type { Row } from '../row.ts'
import { startBare, startGateway, startPeer } from '../servers.ts'
import { type Contender, requireSame, type SideBySide, sideBySide } from '../side-by-side.ts'
import { entityTagsOf, sampleOf, type Workspace } from '../workspaces.ts'

const LIST = '{ me { projects { documentId ref name description framework tags createdAt updatedAt } } }'
const NESTED =
  '{ me { projects { latestExport { createdAt } } templates { documentId name } uiLibraries { documentId name } } }'

export const PROJECTS: LoadRequest = {
  method: 'GET',
  path: '/projects',
  headers: { authorization: 'Bearer {{accessToken}}' },
}
const PROJECTS_IF_CHANGED: LoadRequest = {
  ...PROJECTS,
  headers: { ...PROJECTS.headers, 'if-none-match': '{{etag}}' },
}
export const PROJECT_LIST = graphql(LIST)

type PeerName = 'fastify' | 'mercurius' | 'apollo' | 'yoga'
type ContenderName = 'gateway' | 'gateway without cache' | 'bare' | PeerName

interface ReadRow extends Pick<SideBySide, 'goals'> {
  readonly name: string
  readonly request: LoadRequest
  readonly subject: ContenderName
  readonly contenders: readonly ContenderName[]
}

/** From profiles of both; what was tried is in the README's Design. */
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
    name: 'graphql-list-warm',
    request: PROJECT_LIST,
    subject: 'gateway',
    contenders: ['bare', 'gateway', 'mercurius', 'apollo', 'yoga'],
    goals: [
      { against: 'bare', atLeast: 0.6 },
      { against: 'mercurius', atLeast: 4 },
      { against: 'apollo', atLeast: 12 },
      { against: 'yoga', atLeast: 12 },
    ],
  },
  {
    name: 'graphql-list-uncached',
    request: PROJECT_LIST,
    subject: 'gateway without cache',
    contenders: ['bare', 'gateway without cache', 'mercurius'],
    goals: [{ against: 'mercurius', atLeast: 1.1 }],
  },
  {
    name: 'graphql-nested-uncached',
    request: graphql(NESTED),
    subject: 'gateway without cache',
    contenders: ['bare', 'gateway without cache', 'mercurius'],
    goals: [{ against: 'mercurius', atLeast: 1.1 }],
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
      check(answer) {
        if (sample.status === 200) requireSame(contender, JSON.parse(answer), JSON.parse(sample.body))
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

export function graphql(query: string): LoadRequest {
  return {
    method: 'POST',
    path: '/graphql',
    headers: { authorization: 'Bearer {{accessToken}}', 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  }
}
