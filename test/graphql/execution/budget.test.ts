// What an execution counts of its answer, to the character, and that it ends when the answer exceeds a limit.
import { GraphQLScalarType } from 'graphql'
import { describe, expect, test } from 'vitest'
import { createInFlightBytes } from '../../../src/http/limits/in-flight-bytes.ts'
import { type RawJson, toRawJson } from '../../../src/resolvers/documents/raw-json.ts'
import {
  createRequestBudget,
  RequestAborted,
  type RequestBudget,
  UNCOUNTED,
  UNLIMITED,
} from '../../../src/resolvers/request-budget.ts'
import { createSmallWorld, textOf } from './small-world.ts'

const TYPES = `
  scalar Raw
  type Thing { text: String later: String raw: Raw bytes: Raw laterBytes: Raw failing: String strict: Int! inner: Thing laterInner: Thing things: [Thing] }
  type Query { text: String later: String number: Int inner: Thing laterInner: Thing things: [Thing] failing: String }
  type Mutation { text: String inner: Thing }
`

const RAW = '{"raw":"é"}'
const THING = {
  text: () => 'some text',
  later: async () => 'later',
  number: () => 12,
  raw: () => toRawJson(RAW),
  bytes: () => toRawJson(Buffer.from(RAW)),
  laterBytes: async () => toRawJson(Buffer.from(RAW)),
  failing() {
    throw new Error('no')
  },
  strict: () => null,
  inner: () => ({}),
  laterInner: async () => ({}),
  things: () => [{}, {}],
}

function resolversOf(names: readonly (keyof typeof THING)[], raw: RawJson) {
  const thing = { ...THING, raw: () => raw }
  return Object.fromEntries(names.map((name) => [name, thing[name]]))
}

function createWorld(limits: Partial<typeof UNLIMITED>, raw?: RawJson) {
  return worldOf(createRequestBudget({ ...UNLIMITED, ...limits }, createInFlightBytes(1_048_576).open()), raw)
}

function worldOf(budget: RequestBudget, raw = toRawJson(RAW)) {
  return createSmallWorld(
    TYPES,
    {
      Raw: new GraphQLScalarType({ name: 'Raw' }),
      Thing: resolversOf(
        ['text', 'later', 'raw', 'bytes', 'laterBytes', 'failing', 'strict', 'inner', 'laterInner', 'things'],
        raw,
      ),
      Query: resolversOf(['text', 'later', 'number', 'inner', 'laterInner', 'things', 'failing'], raw),
      Mutation: resolversOf(['text', 'inner'], raw),
    },
    { budget },
  )
}

async function reasonOf(run: () => unknown): Promise<string> {
  try {
    await run()
    return 'answered'
  } catch (error) {
    if (!(error instanceof RequestAborted)) throw error
    return error.code
  }
}

/** In characters, beyond those of the text: bytes are counted as bytes. */
const BYTES_MORE = Buffer.byteLength(RAW) - RAW.length
const LATER = '"later"'.length

describe('an answer of exactly the allowed length is given, and one of a character more is refused', () => {
  test.for([
    ['{ text number }', 0],
    ['{ text inner { text inner { text } } number }', 0],
    // A field that is waited for is counted only if it is bytes.
    ['{ text later number }', -LATER],
    ['{ later laterInner { text inner { text } laterInner { text later } } number inner { text } }', -2 * LATER],
    ['{ inner { raw text } }', 0],
    ['{ inner { later raw } }', -LATER],
    ['{ inner { text bytes } number }', BYTES_MORE],
    ['{ inner { text laterBytes later } }', BYTES_MORE - LATER],
    // An error counts 256 characters beside the text, and the names on the path to it.
    ['{ text failing number }', 256 + 'failing'.length],
    ['{ inner { failing } laterInner { later failing } }', 512 + 'innerfailinglaterInnerfailing'.length - LATER],
    // Each further place in the document counts 32; the brackets and the comma of the list do not count.
    ['{ things { failing text failing failing } }', 2 * (256 + 2 * 32 + 'thingsfailing'.length) - 3],
    ['{ things { strict } }', 2 * (256 + 'thingsstrict{"strict":}'.length - 'null'.length) - 3],
    // The brackets and commas of a list are not counted.
    ['{ things { text inner { text } } }', -3],
    ['{ things { later } }', -3 - 2 * LATER],
  ] as const)('%s', async ([query, more]) => {
    const free = await createWorld({}).run(query)
    const length = textOf(free.data).length + more
    expect(await reasonOf(() => createWorld({ maxResponseLength: length }).run(query))).toBe('answered')
    expect(await reasonOf(() => createWorld({ maxResponseLength: length - 1 }).run(query))).toBe('RESPONSE_TOO_LARGE')
  })
})

test.for(['{ inner { MANY } }', '{ inner { later MANY } }', '{ inner { inner { MANY } } }'] as const)(
  '%s is refused before its text would be longer than a string can be',
  async (query) => {
    const long = toRawJson(`"${'x'.repeat(16_000_000)}"`)
    // V8's strings have fewer than 536,870,888 characters.
    const many = Array.from({ length: 40 }, (_, index) => `a${index}: raw`).join(' ')
    const limits = { maxResponseLength: 40_000_000 }
    expect(await reasonOf(() => createWorld(limits, long).run(query.replace('MANY', many)))).toBe('RESPONSE_TOO_LARGE')
  },
)

test('the text of a long object is built in pieces, and has the same content', async () => {
  const long = `"${'x'.repeat(600_000)}"`
  for (const query of [
    '{ inner { a: raw b: raw c: raw text } text }',
    '{ inner { later a: raw b: raw c: raw text } text }',
  ]) {
    const { data } = await worldOf(UNCOUNTED, toRawJson(long)).run(query)
    const later = query.includes('later') ? '"later":"later",' : ''
    expect(typeof data).toBe('object')
    // Not `toBe` on the texts: it would print the whole difference.
    const expected = `{"inner":{${later}"a":${long},"b":${long},"c":${long},"text":"some text"},"text":"some text"}`
    expect(textOf(data) === expected).toBe(true)
  }
})

test.for([
  ['{ text }', 1],
  ['{ inner { text } }', 2],
  ['{ later things { text things { later } } }', 7],
  ['mutation { text }', 1],
  ['mutation { inner { text } }', 2],
] as const)('%s counts as %i objects', async ([query, count]) => {
  expect(await reasonOf(() => createWorld({ maxObjects: count }).run(query))).toBe('answered')
  expect(await reasonOf(() => createWorld({ maxObjects: count - 1 }).run(query))).toBe('RESPONSE_TOO_LARGE')
})

test.for([
  '{ inner { things { text } } }',
  '{ things { later } }',
  '{ inner { things { later } } later }',
  '{ laterInner { inner { later } } }',
  'mutation { inner { inner { inner { text } } } }',
])('%s has no data at all once it is too large, even where null is allowed', async (query) => {
  expect(await reasonOf(() => createWorld({ maxObjects: 2 }).run(query))).toBe('RESPONSE_TOO_LARGE')
})

test.for([
  '{ inner { text } }',
  '{ laterInner { later } }',
  '{ things { text } }',
  '{ things { later } }',
  'mutation { inner { text } }',
])('%s has no data if there was no room for one of its objects, even if there was for the next', async (query) => {
  const count = await objectsOf(query)
  expect(count).toBeGreaterThan(1)
  for (let refused = 1; refused <= count; refused += 1) {
    let objects = 0
    const budget: RequestBudget = {
      ...UNCOUNTED,
      addObject() {
        objects += 1
        if (objects === refused) throw new RequestAborted('UNAVAILABLE', { retryAfterSeconds: 1 })
      },
    }
    expect(await reasonOf(() => worldOf(budget).run(query)), `object ${refused}`).toBe('UNAVAILABLE')
  }
})

async function objectsOf(query: string): Promise<number> {
  let objects = 0
  const addObject = () => {
    objects += 1
  }
  await worldOf({ ...UNCOUNTED, addObject }).run(query)
  return objects
}
