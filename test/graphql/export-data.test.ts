// The data of several exports in one answer: an export that cannot be read is an error at its place,
// and the others are answered.
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
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
