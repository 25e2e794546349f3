import { describe, expect, onTestFinished, test } from 'vitest'
import { bearer, startGateway, type TestGateway } from './support/gateway.ts'
import { interruptedGateway } from './support/interrupted-gateway.ts'
import { HAS_PGBOUNCER, startPgbouncer } from './support/pgbouncer.ts'
import { asNewUser, createdDatabases, execute, openHand, POSTGRES_URL } from './support/postgres.ts'
import { ANA, documentLine, exportLine } from './support/workspaces.ts'

/** Large enough to be sent with a content coding. */
const project = (version: number): string => `{"id":"p","v":${version},"text":"${'x'.repeat(4_000)}"}`

describe.skipIf(POSTGRES_URL === null)('a state that changes between two statements of one request', () => {
  const createdDatabase = createdDatabases()

  const asked = {
    REST: async (gateway: TestGateway, token: string) => (await gateway.get('/projects', token)).text,
    GraphQL: async (gateway: TestGateway, token: string) => {
      const { data } = (await gateway.graphql('{ me { projects { data } } }', { accessToken: token })).json()
      return JSON.stringify(data.me.projects.map((project: { data: unknown }) => project.data))
    },
  }

  test.each(Object.keys(asked) as (keyof typeof asked)[])(
    '%s: documents of a newer state are not cached under the previous state version',
    async (protocol) => {
      const url = await createdDatabase()
      const { gateway, beforeNext } = await interruptedGateway({ databaseUrl: url })
      await gateway.load(documentLine('project', ANA, project(1)))
      const { accessToken } = await gateway.login(ANA)
      const [before] = await execute(url, 'select revision, stamp from workspace_gateway.user')
      beforeNext('documentsWithin', () => gateway.load(documentLine('project', ANA, project(2))))
      expect(await asked[protocol](gateway, accessToken)).toBe(`[${project(2)}]`)
      // A standby without the last commit takes over, or a copy is restored: the previous state is current again.
      await execute(
        url,
        `set session_replication_role = replica;
       update workspace_gateway.document set text = '${project(1)}';
       update workspace_gateway.user set revision = ${before?.revision}, stamp = '${before?.stamp}'`,
      )
      expect(await asked[protocol](gateway, accessToken)).toBe(`[${project(1)}]`)
    },
  )

  test('an export that is removed in between is answered as missing, not as empty', async () => {
    const url = await createdDatabase()
    const { gateway, beforeNext } = await interruptedGateway({ databaseUrl: url })
    await gateway.load(
      documentLine('project', ANA, '{"id":"p"}') +
        exportLine(ANA, { r: 'p', createdAt: '2026-01-01T00:00:00Z', elements: ['1'] }),
    )
    const { accessToken } = await gateway.login(ANA)
    beforeNext('elementRunsOf', () => execute(url, 'delete from workspace_gateway.export'))
    const answer = await gateway.get('/exports?r=p', accessToken)
    expect([answer.status, answer.json().code]).toEqual([404, 'NO_EXPORT'])
  })

  describe('an export id that is used again after a failover to a standby that lacked the first export', () => {
    const elementsOf = (digit: number) => Array.from({ length: 30 }, () => `"${String(digit).repeat(60_000)}"`)

    /**
     * Simulates a failover after which an import reuses the ids that the standby had not seen: only the digest tells
     * the exports apart.
     */
    async function openWorld(elements: readonly string[]) {
      const url = await createdDatabase()
      const { gateway, beforeNext } = await interruptedGateway({ databaseUrl: url })
      const lines = exportLine(ANA, { r: 'p', createdAt: '2026-01-01T00:00:00Z', elements })
      await gateway.load(documentLine('project', ANA, '{"id":"p","ref":"p"}') + lines)
      const { accessToken } = await gateway.login(ANA)
      const failOver = () =>
        execute(
          url,
          `set session_replication_role = replica;
           update workspace_gateway.export set digest = repeat('d', 64);
           update workspace_gateway.export_element set text = translate(text, '1', '2');
           update workspace_gateway.user set stamp = 'of another history'`,
        )
      return { gateway, accessToken, beforeNext, failOver }
    }

    test('is not answered under the entity tag of the first export', async () => {
      const { gateway, accessToken, beforeNext, failOver } = await openWorld(['1'])
      beforeNext('elementRunsOf', failOver)
      const { status, text, headers } = await gateway.get('/exports?r=p', accessToken)
      expect([status, text, headers.get('etag')]).toEqual([200, '[2]', `"${'d'.repeat(64)}"`])
    })

    const query = JSON.stringify({ query: '{ me { latestExport(ref: "p") { data } } }' })
    const requests = {
      REST: ['/exports?r=p', {}],
      GraphQL: ['/graphql', { method: 'POST', body: query }],
    } as const satisfies Record<string, readonly [path: string, init: RequestInit]>

    test.each(Object.keys(requests) as (keyof typeof requests)[])(
      '%s: nothing of the second export is sent behind a part of the first',
      async (protocol) => {
        const { gateway, accessToken, beforeNext, failOver } = await openWorld(elementsOf(1))
        const [path, init] = requests[protocol]
        const headers = { ...bearer(accessToken), 'content-type': 'application/json', 'accept-encoding': 'identity' }
        const ask = async () => received(await fetch(`${gateway.url}${path}`, { ...init, headers }))
        beforeNext('elementRunsOf', failOver, 3)
        const first = await ask()
        expect([first.isWhole, first.text.includes('111'), first.text.includes('222')]).toEqual([false, true, false])
        const next = await ask()
        expect([next.isWhole, next.text.includes(`[${elementsOf(2).join(',')}]`)]).toEqual([true, true])
      },
    )
  })

  test.skipIf(!HAS_PGBOUNCER)('a retry needs only the one connection that a pooler has', async () => {
    const url = await createdDatabase()
    await using pooler = await startPgbouncer(url, { connections: 1 })
    const { gateway, beforeNext, snapshots } = await interruptedGateway({
      databaseUrl: pooler.through(url),
      // Without the timeout that would end the snapshot and free its connection.
      openSnapshot: async (store) => store.openSnapshot(),
    })
    await gateway.load(documentLine('project', ANA, project(1)))
    const { accessToken } = await gateway.login(ANA)
    beforeNext('documentCounts', () => gateway.load(documentLine('project', ANA, project(2))))
    const query = '{ me { projects { data } projectsConnection { totalCount } } }'
    expect((await gateway.graphql(query, { accessToken })).json().data.me.projects[0].data.v).toBe(2)
    expect(snapshots()).toBe(1)
  })

  test('a retry waits for a locked table no longer than any other read', async () => {
    const url = await createdDatabase()
    const client = await openHand(url)
    const { gateway, beforeNext } = await interruptedGateway({
      databaseUrl: url,
      async openSnapshot(store, options) {
        const snapshot = await store.openSnapshot(options)
        await client.query('begin; lock table workspace_gateway.document in access exclusive mode')
        return snapshot
      },
    })
    await gateway.load(documentLine('project', ANA, project(1)))
    const { accessToken } = await gateway.login(ANA)
    beforeNext('documentCounts', () => gateway.load(documentLine('project', ANA, project(2))))
    const ask = () => gateway.graphql('{ me { projects { data } projectsConnection { totalCount } } }', { accessToken })
    expect((await ask()).text).toContain('UNAVAILABLE')
    await client.query('rollback')
    expect((await ask()).json().data.me.projects[0].data.v).toBe(2)
  })

  test.each([
    ['login', 'insert', 'POST', '/login', 'email'],
    ['logout', 'delete', 'DELETE', '/logout', 'refreshToken'],
  ] as const)('a %s whose connection is lost is not tried again: whether it happened is open', async (...row) => {
    const [, statement, method, path, member] = row
    const url = await createdDatabase()
    const gateway = await startGateway({ databaseUrl: url })
    const { refreshToken } = await gateway.login(ANA)
    // Ends the connection during the first such statement only: a sequence is not rolled back.
    await execute(
      url,
      `create sequence public.attempts;
       create function public.lose_first() returns trigger language plpgsql as $$ begin
         if nextval('public.attempts') = 1 then perform pg_terminate_backend(pg_backend_pid()); end if;
         return null;
       end $$;
       create trigger lose_first before ${statement} on workspace_gateway.session execute function public.lose_first()`,
    )
    const body = JSON.stringify({ email: ANA, refreshToken }, [member])
    const send = async () => (await gateway.send(method, path, body, { 'content-type': 'application/json' })).status
    expect(await send()).toBe(503)
    expect(await execute(url, 'select last_value from public.attempts')).toEqual([{ last_value: '1' }])
    expect(await send()).toBe(200)
  })

  test('while the tables are missing, as during pg_restore --clean, every answer is 503, and the next one is right', async () => {
    const url = await createdDatabase()
    const gateway = await startGateway({ databaseUrl: url })
    await gateway.load(documentLine('project', ANA, project(1)))
    await expectUnavailableWhile(gateway, url, {
      spoil: 'alter schema workspace_gateway rename to gone',
      mend: 'alter schema gone rename to workspace_gateway',
    })
  })

  test('while its role lacks the rights, as before restored tables get their owner, every answer is 503, and the next one is right', async () => {
    const url = await createdDatabase()
    const owning = await startGateway({ databaseUrl: url })
    await owning.load(documentLine('project', ANA, project(1)))
    const databaseUrl = await asNewUser(url)
    const { username } = new URL(databaseUrl)
    onTestFinished(() => execute(url, `drop owned by ${username}`).then(() => {}))
    for (const what of ['schema', 'all tables in schema', 'all sequences in schema']) {
      await execute(url, `grant all on ${what} workspace_gateway to ${username}`)
    }
    await expectUnavailableWhile(await startGateway({ databaseUrl }), url, {
      spoil: `revoke usage on schema workspace_gateway from ${username}`,
      mend: `grant usage on schema workspace_gateway to ${username}`,
    })
  })
})

async function expectUnavailableWhile(
  gateway: TestGateway,
  url: string,
  { spoil, mend }: { readonly spoil: string; readonly mend: string },
): Promise<void> {
  const { accessToken } = await gateway.login(ANA)
  const ask = async () => {
    const answers = [
      await gateway.get('/readyz'),
      await gateway.get('/projects', accessToken),
      await gateway.send('POST', '/login', JSON.stringify({ email: ANA }), { 'content-type': 'application/json' }),
    ]
    return answers.map(({ status, headers }) => [status, headers.has('retry-after')])
  }
  await execute(url, spoil)
  expect(await ask()).toEqual(Array(3).fill([503, true]))
  expect((await gateway.graphql('{ me { email } }', { accessToken })).text).toContain('"UNAVAILABLE"')
  await execute(url, mend)
  expect(await ask()).toEqual(Array(3).fill([200, false]))
}

/** Reads as much of the body as arrives. */
async function received({ body }: Response): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const chunks: Uint8Array[] = []
  const [reading] = await Promise.allSettled([
    (async () => {
      for await (const chunk of body ?? []) chunks.push(chunk)
    })(),
  ])
  return { text: Buffer.concat(chunks).toString(), isWhole: reading.status === 'fulfilled' }
}
