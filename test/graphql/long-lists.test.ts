// Lists that are longer than one read: complete, in order, and the same over both protocols.
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { ANA, documentLine } from '../support/workspaces.ts'

/** Makes several parts of 128 KiB. */
const COUNT = 60
const IDS = Array.from({ length: COUNT }, (_, index) => `t${index}`)
const text = (id: string) => `{"id":"${id}","name":"of ${id}","text":"${'é'.repeat(4_000)}"}`

async function start(graphqlValues: Readonly<Record<string, string>> = {}) {
  const gateway = await startGateway({ graphqlValues })
  await gateway.load(IDS.map((id) => documentLine('template', ANA, text(id))).join(''))
  const { accessToken } = await gateway.login(ANA)
  return {
    rest: async () => (await gateway.get('/templates', accessToken)).text,
    ask: async (fields: string) => gateway.graphql(`{ me { ${fields} } }`, { accessToken }),
  }
}

test('a list of several parts is one array of its documents, byte for byte', async () => {
  const { rest, ask } = await start()
  const documents = IDS.map(text).join()
  expect((await rest()) === `[${documents}]`).toBe(true)
  const answer = await ask('templates { data }')
  expect(answer.status).toBe(200)
  const expected = `{"data":{"me":{"templates":[${IDS.map((id) => `{"data":${text(id)}}`).join()}]}}}`
  expect(answer.text === expected).toBe(true)
})

test.each([
  ['list: templates', IDS],
  ['list: templates(first: 50)', IDS.slice(0, 50)],
  ['connection: templatesConnection(last: 50)', IDS.slice(-50)],
])('%s returns its items in order', async (list, ids) => {
  const { ask } = await start()
  const fields = '{ documentId name text: data }'
  const { data, errors } = (await ask(`${list} ${list.startsWith('list') ? fields : `{ nodes ${fields} }`}`)).json()
  expect(errors).toBeUndefined()
  const items: readonly { readonly documentId: string; readonly name: string }[] =
    data.me.list ?? data.me.connection.nodes
  expect(items.map(({ documentId, name }) => [documentId, name])).toEqual(ids.map((id) => [id, `of ${id}`]))
})

test.each([
  [200_000, 'RESPONSE_TOO_LARGE'],
  [300_000, undefined],
])('with a read limit of %i bytes, a request for document ids alone gets the error %s', async (most, code) => {
  const { ask } = await start({ graphqlMaxReadBytes: String(most) })
  const { data, errors } = (await ask('templates { documentId }')).json()
  expect(errors?.[0].extensions.code).toBe(code)
  expect(data?.me.templates.length).toBe(code === undefined ? COUNT : undefined)
})
