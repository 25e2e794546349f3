// Single fields, called as a REST row or a test calls their resolvers.
import { expect, expectTypeOf, test } from 'vitest'
import type { Context } from '../../src/resolvers/context.ts'
import { documentId, text, textList } from '../../src/resolvers/documents/document-fields.ts'
import { memberOf } from '../../src/resolvers/documents/member-field.ts'
import { rawTextOf, toRawJson } from '../../src/resolvers/documents/raw-json.ts'
import type { QueryResolvers } from '../../src/resolvers/generated.ts'
import type { NodeRow } from '../../src/resolvers/identity/node-row.ts'
import { Session } from '../../src/resolvers/sign-in/session.ts'

const WRITTEN = [
  '"a\\u0062"',
  '1',
  '-12345678901234567890',
  '1.5',
  '["a", "b"]',
  '["a", 1]',
  '[]',
  'true',
  'null',
  '{}',
]

test.for([
  ['a text field', text('name'), ['ab', ...Array.from({ length: 9 }, () => null)]],
  ['a field of a list of texts', textList('name'), [null, null, null, null, ['a', 'b'], null, [], null, null, null]],
] as const)('%s is null if the document has something else', ([, resolve, values]) => {
  expect(WRITTEN.map((value) => resolve({ text: `{"id":1,"name":${value}}` }))).toEqual(values)
  expect(resolve({ text: '{"other":"a"}' })).toBeNull()
})

test('the id of a document is a string or an integer of any size', () => {
  const values = WRITTEN.map((value) => documentId({ text: `{"id":${value}}` }))
  expect(values).toEqual(['ab', '1', '-12345678901234567890', ...Array.from({ length: 7 }, () => null)])
})

test('memberOf finds the member of a member resolver, and nothing in any other value', () => {
  expect(memberOf(documentId)?.name).toBe('id')
  for (const other of [() => null, undefined, null, { name: 'id' }]) expect(memberOf(other)).toBeNull()
})

test('raw JSON is recognized by its mark', () => {
  expect(rawTextOf(toRawJson('1'))).toBe('1')
  for (const other of ['1', 1, {}, [], null, undefined, true]) expect(rawTextOf(other)).toBeNull()
})

test('a session has its times, the earlier of its two ends, and null for what is unknown', () => {
  const session = {
    id: 'one',
    email: 'ana@example.com',
    client: '',
    createdAt: 1_000,
    lastUsedAt: 2_000,
    idleExpiresAt: 3_000,
    expiresAt: 4_000,
    userAgent: 'Browser',
    network: '127.0.0.0/24',
  }
  const none = {}
  const current = (id: string | null) =>
    Session.current(session, none, { viewer: id === null ? null : { id } } as unknown as Context)
  expect([Session.createdAt, Session.lastUsedAt, Session.expiresAt].map((field) => field(session))).toEqual([
    '1970-01-01T00:00:01.000Z',
    '1970-01-01T00:00:02.000Z',
    '1970-01-01T00:00:03.000Z',
  ])
  expect([current('one'), current('other'), current(null)]).toEqual([true, false, false])
  expect([Session.userAgent(session), Session.network(session)]).toEqual(['Browser', '127.0.0.0/24'])
  const unknown = { ...session, userAgent: '', network: '' }
  expect([Session.userAgent(unknown), Session.network(unknown)]).toEqual([null, null])
})

test('the types accept a promise of a list, and refuse a list of promises, which the executor does not await', () => {
  expectTypeOf<() => Promise<readonly NodeRow[]>>().toExtend<QueryResolvers['nodes']>()
  expectTypeOf<() => readonly Promise<NodeRow>[]>().not.toExtend<QueryResolvers['nodes']>()
})
