// An import into a database that a gateway is serving.
import { expect, test } from 'vitest'
import { type Client, createClient, requireSession } from './support/client.ts'
import { serveForTest, startRun } from './support/command-line.ts'
import { createWorkspace, EVE, elementLine, splitExportHead, templateLines } from './support/import-workspace.ts'
import { ANA, documentLine, exportLine, SMALL_WORLD } from './support/workspaces.ts'

test('during an import the gateway answers every login, reads stay correct, and an export is visible whole or not at all', async () => {
  const workspace = createWorkspace()
  await workspace.load(SMALL_WORLD)
  const elements = Array.from({ length: 2_000 }, (_, index) => `{"path":"${index}.html","of":1.0}`)
  const path = workspace.write(
    'large.ndjson',
    [
      documentLine('project', EVE, '{"id":"site"}'),
      exportLine(EVE, { r: 'site', createdAt: '2026-01-01T00:00:00Z', elements: ['"before"'] }),
      splitExportHead('site', '2026-01-02T00:00:00Z', 'large'),
      ...Array.from({ length: 20_000 }, (_, index) => [
        documentLine('template', EVE, `{"id":${index},"text":"${'x'.repeat(100)}"}`),
        index % 10 === 0 ? elementLine('large', elements[index / 10] ?? '') : '',
      ]).flat(),
    ].join(''),
  )
  const { url } = await serveForTest(workspace.flags)
  const importing = startRun(['import', path, ...workspace.flags])
  const seen = await whileRunning(importing.isRunning, url, [
    async (client) => {
      const { accessToken } = await requireSession(client, EVE)
      const { status, text } = await client.get('/exports?r=site', accessToken)
      return `${status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? shown(text, elements)}`
    },
    async (client) => {
      const { accessToken } = await requireSession(client, ANA)
      const { status, text } = await client.get('/projects', accessToken)
      return `${status} ${text}`
    },
    async (client) => `${(await client.login('somebody@example.com')).status}`,
    async (client) => {
      const { accessToken } = await requireSession(client, EVE)
      const query = '{ me { templates { documentId } } }'
      const { status, text } = await client.graphql(query, accessToken)
      const ids = [...text.matchAll(/"documentId":"(\d+)"/g)].map(([, id]) => Number(id))
      return `${status} ${ids.every((id, index) => id === index) ? 'in order' : text}`
    },
  ])
  const { exitCode, stdout, stderr } = await importing.ended
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^imported \S+: 20003 added, 0 replaced, 0 unchanged /)

  const [exports = [], projects, logins, templates = []] = seen
  const allowed = ['404 NO_WORKSPACE', '404 NO_PROJECT', '404 NO_EXPORT', '200 before', '200 whole']
  expect(exports.filter((answer) => !allowed.includes(answer))).toEqual([])
  expect(exports).toContain('200 before')
  expect(projects).toEqual([
    '200 [{"id":"p1","ref":"site","name":"Site","tags":["a","b"],"n":12345678901234567890},{"id":"p2","ref":"app","name":"App"}]',
  ])
  expect(logins).toEqual(['200'])
  expect(templates).toEqual(['200 in order'])

  using client = createClient(url)
  const { accessToken } = await requireSession(client, EVE)
  expect((await client.get('/exports?r=site', accessToken)).text).toBe(`[${elements.join(',')}]`)
})

test('an import that finds a bad line late does not change what is served', async () => {
  const workspace = createWorkspace()
  await workspace.load(SMALL_WORLD)
  const path = workspace.write(
    'late.ndjson',
    [
      documentLine('project', ANA, '{"id":"p1","ref":"site","name":"must not appear"}'),
      ...templateLines(0, 19_998),
      '{"kind":"template","email":"ana@example.com"}\n',
    ].join(''),
  )
  const { url } = await serveForTest(workspace.flags)
  const importing = startRun(['import', path, ...workspace.flags])
  const [bodies] = await whileRunning(importing.isRunning, url, [
    async (client) => {
      const { accessToken } = await requireSession(client, ANA)
      const answers = await Promise.all([client.get('/projects', accessToken), client.get('/templates', accessToken)])
      return answers.map(({ status, text }) => `${status} ${text}`).join()
    },
  ])
  expect(bodies).toHaveLength(1)
  expect(bodies?.[0]).not.toContain('must not appear')
  expect((await importing.ended).exitCode).toBe(1)
})

/** Repeats each request until the process has ended; returns the distinct answers to each. */
async function whileRunning(
  isRunning: () => boolean,
  url: string,
  asking: readonly ((client: Client) => Promise<string>)[],
): Promise<readonly (readonly string[])[]> {
  return Promise.all(
    asking.map(async (ask) => {
      using client = createClient(url)
      const answers = new Set<string>()
      while (isRunning()) answers.add(await ask(client))
      return [...answers]
    }),
  )
}

function shown(body: string, elements: readonly string[]): string {
  if (body === `[${elements.join(',')}]`) return 'whole'
  return body === '["before"]' ? 'before' : body
}
