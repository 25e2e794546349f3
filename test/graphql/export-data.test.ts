// The data of several exports in one answer: an export that cannot be read is an error at its place,
// and the others are answered.
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { exchange, readAnswers, requestText } from '../support/wire.ts'
import { ANA, documentLine, exportLine } from '../support/workspaces.ts'

const REFS = ['one', 'two', 'three']
const WORLD = REFS.map(
  (ref) =>
    documentLine('project', ANA, `{"id":"${ref}"}`) +
    exportLine(ANA, { r: ref, createdAt: '2026-01-01T00:00:00Z', elements: [JSON.stringify(ref.repeat(1_000))] }),
).join('')
const QUERY = `{ me { ${REFS.map((ref) => `${ref}: latestExport(ref: "${ref}") { data }`).join(' ')} } }`

test('an export that is removed after it was found fails alone', async () => {
  const gateway = await startGateway({
    wrapStore: (store) => ({
      ...store,
      async elementRunsOf(questions) {
        const runs = await store.elementRunsOf(questions)
        return runs.map((run) => (run && Buffer.from(run.bytes).includes('twotwo') ? null : run))
      },
    }),
  })
  await gateway.load(WORLD)
  const { accessToken } = await gateway.login(ANA)
  const { data, errors } = (await gateway.graphql(QUERY, { accessToken })).json()
  expect(data.me).toEqual({ one: { data: ['one'.repeat(1_000)] }, two: null, three: { data: ['three'.repeat(1_000)] } })
  expect(errors).toMatchObject([{ path: ['me', 'two', 'data'], extensions: { code: 'UNAVAILABLE' } }])
})

test('an export that is too large is refused before it is read, and leaves no unhandled rejection', async () => {
  const unseen: unknown[] = []
  const onUnseen = (reason: unknown) => unseen.push(reason)
  process.on('unhandledRejection', onUnseen)
  onTestFinished(() => void process.off('unhandledRejection', onUnseen))
  let asked = 0
  const gateway = await startGateway({
    graphqlValues: { graphqlMaxHeldBytes: '4096' },
    wrapStore: (store) => ({
      ...store,
      elementRunsOf(questions) {
        asked += questions.length
        throw new Error('the database is away')
      },
    }),
  })
  await gateway.load(WORLD)
  const { accessToken } = await gateway.login(ANA)
  const tooLarge = '{ me { latestExport(ref: "three") { data } } }'
  const answer = await gateway.graphql(tooLarge, { accessToken })
  expect(answer.json().errors[0].extensions.code).toBe('RESPONSE_TOO_LARGE')
  // Node reports unhandled rejections at the end of a turn.
  await new Promise(setImmediate)
  expect(unseen).toEqual([])
  expect(asked).toBe(0)
})

test('the data of many small exports is sent in a few large chunks', async () => {
  const gateway = await startGateway()
  const exports = Array.from({ length: 1_200 }, (_, index) => ({
    createdAt: new Date(Date.UTC(2026, 0, 1, 0, -index)).toISOString(),
    elements: [JSON.stringify(`${index} ${'x'.repeat(1_000)}`)],
  }))
  await gateway.load(
    documentLine('project', ANA, '{"id":"p"}') + exports.map((one) => exportLine(ANA, { r: 'p', ...one })).join(''),
  )
  const { accessToken } = await gateway.login(ANA)
  const request = requestText({
    method: 'POST',
    target: '/graphql',
    headers: [
      ['Authorization', `Bearer ${accessToken}`],
      ['Content-Type', 'application/json'],
      ['Connection', 'close'],
    ],
    body: JSON.stringify({ query: '{ me { project(ref: "p") { exports { data } } } }' }),
  })
  const bytes = await exchange(gateway.url, request)
  const [answer] = readAnswers(bytes)
  const data = exports.map(({ elements }) => `{"data":[${elements}]}`).join()
  expect(answer?.text).toBe(`{"data":{"me":{"project":{"exports":[${data}]}}}}`)
  // The head of the response, and the length of each chunk in hexadecimal.
  expect(bytes.byteLength - Buffer.byteLength(answer?.text ?? '')).toBeLessThan(1_024)
})
