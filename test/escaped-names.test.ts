// Names of JSON members that are written with escapes. V8 confuses them with others that it has read
// before, in any text.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from './support/command-line.ts'
import { startGateway } from './support/gateway.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { ANA, BEN, documentLine } from './support/workspaces.ts'

test('an import reads names as they are written, whatever comes before them', async () => {
  const cwd = temporaryDirectory()
  const lines = [
    documentLine('template', BEN, String.raw`{"id":"t","r\\u":1}`),
    documentLine('project', ANA, String.raw`{"id":"t","r\u0065f":"site"}`),
    // This line is refused because of the reference of the line before: so that reference was read.
    documentLine('project', ANA, '{"id":"other","ref":"site"}'),
    // In a value, and behind an escaped backslash, the same characters are no escape of a name.
    documentLine('project', ANA, String.raw`{"id":"v","r\u0065f":"s\u0074\\\\u0041\u0022\u005c"}`),
    documentLine('project', ANA, String.raw`{"id":"w","ref":"st\\\\u0041\"\\"}`),
  ]
  writeFileSync(join(cwd, 'world.ndjson'), lines.join(''))
  // In a process that has read nothing else: which name V8 takes it for depends on everything that it has read.
  expect(await run(['import', 'world.ndjson', '--database', 'file:workspace.db'], { cwd })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(
      /^world.ndjson:3: reference "site" is used .*\nworld.ndjson:5: reference .* is used /,
    ),
  })
})

test('variables have the names that are written, whatever another client has sent before', async () => {
  const gateway = await startGateway()
  await gateway.load(documentLine('project', ANA, '{"ref":"site"}'))
  const { accessToken } = await gateway.login(ANA)
  const query = 'query ($ref: String!) { me { project(ref: $ref) { ref } } }'
  const send = (variables: string, headers: Readonly<Record<string, string>> = {}) =>
    gateway.send('POST', '/graphql', `{"query":"${query}","variables":${variables}}`, {
      'content-type': 'application/json',
      ...headers,
    })
  const first = String.raw`{"second":1,"r\\u":"site"}`
  expect((await send(first)).text).toContain('$ref')
  const { status, text } = await send(String.raw`{"second":1,"r\u0065f":"site"}`, {
    authorization: `Bearer ${accessToken}`,
  })
  expect([status, JSON.parse(text)]).toEqual([200, { data: { me: { project: { ref: 'site' } } } }])
})
