// A list of the old server in which two documents have the same id: it cannot be stored here as it is, and nothing of
// it is dropped silently.
import { expect, test } from 'vitest'
import { runHere } from '../support/command-line.ts'
import { conformance } from '../support/conformance.ts'
import { createWorkspace } from '../support/import-workspace.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { ANA, BEN, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

const FIELDS = 'id, uuid, ref, slug, name'

/** Ana's list has two documents with one id; ben's lists are valid. */
const REPEATED = [
  ['/templates', 'Untitled', ['template', '{"name":"Untitled","a":1}'], ['template', '{"name":"Untitled","a":2}']],
  ['/projects', 'p9', ['project', '{"id":"p9","ref":"one"}'], ['project', '{"id":"p9","ref":"two"}']],
  ['/projects', 'p9', ['project', '{"id":"p9","ref":"one","n":1}'], ['project', '{"id":"p9","ref":"one","n":2}']],
  ['/ui-libraries', '7', ['uiLibrary', '{"id":7}'], ['uiLibrary', '{"id":"7"}']],
] as const

test.each(REPEATED)('two documents of %s with the id %s fail their user, and nobody else', async (path, id, ...two) => {
  const records = SMALL_WORLD + two.map(([kind, data]) => documentLine(kind, ANA, data)).join('')
  await using server = await startPlainServer({ records })
  const workspace = createWorkspace()
  const emails = workspace.write('users.txt', `${ANA}\n${BEN}\n`)
  const reason = `two documents of ${path} have the id "${id}": an id is the first of ${FIELDS} that a document has`

  const imported = await workspace.run('import', server.url, '--emails', emails)
  expect([imported.exitCode, imported.stdout]).toEqual([
    1,
    expect.stringMatching(/: 1 user, 1 failed: 2 added, 0 repl/),
  ])
  expect(imported.stderr).toContain(`${emails}:1: its answer cannot be imported: ${reason}\n`)
  expect(imported.stderr).not.toContain('@')

  const followed = await workspace.run('follow', server.url, '--once', '--emails', emails)
  expect([followed.exitCode, followed.stdout]).toEqual([1, expect.stringContaining(', 0 changed, 1 failed, ')])
  expect(followed.stderr).toBe(`${emails}:1: its answer cannot be imported: ${reason}\n`)

  const dump = await workspace.dump()
  expect([dump.includes(BEN), dump.includes(ANA)]).toEqual([true, false])

  const { exitCode, checks } = await conformance(server.url)
  const named = checks.filter(({ found }) => found.includes('two documents'))
  expect([exitCode, named]).toMatchObject([0, [{ group: `GET ${path}`, outcome: 'silent', found: reason }]])
  expect(checks.filter(({ name }) => name === 'gives each document an id of its own').length).toBe(3)
  expect((await conformance(server.url, '--strict')).exitCode).toBe(1)
})

test('the same id in two lists, of two users, or twice in a file of records is no repetition', async () => {
  const template = documentLine('template', ANA, '{"id":"p1"}')
  await using server = await startPlainServer({ records: SMALL_WORLD + template })
  const workspace = createWorkspace()
  expect(await workspace.run('follow', server.url, '--once', '--email', `${ANA},${BEN}`)).toMatchObject({ exitCode: 0 })
  expect(await workspace.importText(template + documentLine('template', ANA, '{"id":"p1","n":2}'))).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('0 added, 1 replaced, 1 unchanged'),
  })
})

test('conformance also names a document without an id', async () => {
  await using server = await startPlainServer({ records: SMALL_WORLD + documentLine('template', ANA, '{"n":1}') })
  const { checks } = await conformance(server.url)
  const named = checks.filter(({ found }) => found.includes('has no id'))
  expect(named).toMatchObject([{ group: 'GET /templates', outcome: 'silent' }])
})

test('texts of users there cannot move the cursor, begin a line or show an email on the terminal of the operator', async () => {
  const id = JSON.stringify(`\u001b]0;x\u0007\nround 9: 0 failed ${BEN}`)
  const twice = ['{"id":"p1","ref":7}', '{"id":"p2","ref":7}'].map((data) =>
    documentLine('project', BEN, data.replace('7', id)),
  )
  const records = [1, 2].map((n) => documentLine('template', ANA, `{"id":${id},"n":${n}}`))
  await using server = await startPlainServer({ records: [...records, ...twice].join('') })
  const workspace = createWorkspace()
  const emails = workspace.write('users.txt', `${ANA}\n${BEN}\n`)
  for (const command of [['import'], ['follow', '--once']] as const) {
    const [name, ...options] = command
    const { stderr } = await workspace.run(name, server.url, '--emails', emails, ...options)
    expect(stderr.match(/^.*its answer cannot be imported: .*$/gm)).toHaveLength(2)
    expect(stderr).not.toMatch(/[\p{Cc}--\n]|^round|@/mv)
  }
  const { stdout } = await runHere(['conformance', server.url, '--email', ANA])
  expect(stdout).toContain('two documents of /templates have the id')
  expect(stdout).not.toMatch(/[\p{Cc}--\n]|^round/mv)
})
