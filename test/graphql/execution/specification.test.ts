// Objects, lists, abstract types, conditions and failures, one at a time: the executor answers as graphql-js does.
import { GraphQLScalarType } from 'graphql'
import { describe, expect, test } from 'vitest'
import { createSmallWorld } from './small-world.ts'

const TYPES = `
  scalar Odd
  interface Named { name: String }
  interface Loud implements Named { name: String barks: Int }
  type Dog implements Named & Loud { name: String barks: Int friend: Dog strict: Int! strictLater: Int! failing: Int friends: [Dog] }
  type Cat implements Named { name: String meows: Int }
  type Fish { fins: Int }
  type Stone { weight: Int }
  union Pet = Dog | Cat | Fish
  type Query {
    text: String later: String none: String noneLater: String missing: String
    failing: String failingLater: String error: String errorStrict: String! strictNull: Int! strictLater: Int!
    odd: Odd wrong: Int wrongs: [Int] wrongsStrict: [Int!] notList: [Int] textList: [Int] lists: [[Int]] laterList: [Int] failingItems: [Int] strictItems: [Int!]
    dog: Dog dogs: [Dog] dogsStrict: [Dog!] laterDogs: [Dog]
    pet: Pet pets: [Pet] laterPet: Pet named: Named unnamed: Named stranger: Pet nobody: Pet anInterface: Named
    echo(text: String = "nothing", number: Int): String
  }
  type Mutation { add(number: Int!): Int fail: Int strict: Int! text: String }
`

const REX = { __typename: 'Dog', name: 'Rex', barks: 3 }
const TOM = { __typename: 'Cat', name: 'Tom', meows: 2 }
const NEMO = { __typename: 'Fish', fins: 4 }
const fail = () => {
  throw new Error('no')
}
const failLater = () => Promise.reject(new Error('no, later'))
const later = <T>(value: T) => new Promise<T>((resolve) => setImmediate(() => resolve(value)))

function createWorld() {
  let sum = 0
  return createSmallWorld(TYPES, {
    Odd: new GraphQLScalarType({
      name: 'Odd',
      coerceOutputValue: (value) => (value === 'nothing' ? undefined : value),
    }),
    Pet: {
      __resolveType: (pet: { readonly __typename: string; readonly isLater?: boolean }) =>
        pet.isLater ? later(pet.__typename) : pet.__typename,
    },
    Dog: {
      friend: () => REX,
      strict: fail,
      strictLater: () => later(null),
      failing: fail,
      friends: () => [REX, null, REX],
    },
    Query: {
      text: () => 'a "text"\n',
      later: () => later('later'),
      none: () => null,
      noneLater: () => later(null),
      failing: fail,
      failingLater: failLater,
      error: () => new Error('a value'),
      errorStrict: () => new Error('a value'),
      strictNull: () => null,
      strictLater: failLater,
      odd: () => 'nothing',
      wrong: () => 'no number',
      wrongs: () => [1, 'no number', 3],
      wrongsStrict: () => [1, 'no number', 3],
      notList: () => 5,
      textList: () => 'text',
      lists: () => [[1, null], null, []],
      laterList: () => later([1, null]),
      failingItems: () => [1, new Error('an item')],
      strictItems: () => [1, null, 3],
      dog: () => REX,
      dogs: () => [REX, null, REX],
      dogsStrict: () => [REX, REX],
      laterDogs: () => later([REX, REX]),
      pet: () => TOM,
      pets: () => [REX, TOM, NEMO, null],
      laterPet: () => ({ ...REX, isLater: true }),
      named: () => REX,
      unnamed: () => ({ name: 'of no type' }),
      stranger: () => ({ __typename: 'Stone' }),
      nobody: () => ({ __typename: 'Nobody' }),
      anInterface: () => ({ __typename: 'Loud' }),
      echo: (_root: unknown, args: object) => JSON.stringify(args),
    },
    Mutation: {
      add: async (_root: unknown, { number }: { readonly number: number }) => {
        const before = await later(sum)
        sum = before + number
        return sum
      },
      fail,
      strict: fail,
      text: () => 'text',
    },
  })
}

describe('a query is answered as graphql-js answers it', () => {
  test.for([
    '{ text }',
    '{ text later none noneLater missing }',
    '{ a: text b: text __typename c: __typename }',
    '{ later a: later b: later text }',
    '{ failing text }',
    '{ text failingLater none }',
    '{ error }',
    '{ errorStrict }',
    '{ text strictNull }',
    '{ strictLater }',
    '{ odd }',
    '{ wrong }',
    '{ wrongs }',
    '{ wrongsStrict text }',
    '{ notList }',
    '{ textList }',
    '{ lists }',
    '{ laterList }',
    '{ failingItems }',
    '{ strictItems }',
    '{ dog { name barks friend { name friend { name } } } }',
    '{ dog { name strict } text }',
    '{ dog { name strictLater } text }',
    '{ dog { friend { friend { strict } } } }',
    '{ dogs { name failing } }',
    '{ dogs { name friend { strict } } }',
    '{ dogs { strict } }',
    '{ dogsStrict { strict } }',
    '{ dogs { strictLater } }',
    '{ laterDogs { name failing friends { strict } } }',
    '{ laterDogs { name } later }',
    '{ pets { ... on Dog { barks } ... on Cat { meows } ... on Fish { fins } } }',
    '{ pets { __typename ... on Named { name } } }',
    '{ pets { ... on Loud { barks } ... { __typename } } }',
    '{ pet { __typename ... on Pet { ... on Cat { name } } } laterPet { ... on Dog { name } } }',
    '{ named { __typename name ... on Dog { barks } } }',
    '{ unnamed { name } }',
    '{ stranger { __typename } text }',
    '{ nobody { __typename } text }',
    '{ anInterface { name } text }',
    '{ ...A ...A text } fragment A on Query { later dog { ...B } } fragment B on Dog { name friend { name } }',
    '{ dog { name } dog { barks } ... { dog { friend { name } } } }',
    '{ ...A @skip(if: true) ...A } fragment A on Query { text }',
    '{ ...A @include(if: false) } fragment A on Query { text }',
    '{ ... @include(if: false) { text } ... @include(if: true) { later } ... @skip(if: false) { none } }',
    '{ text @skip(if: true) later @include(if: false) }',
    '{ dog { name @skip(if: true) } later @include(if: true) }',
    '{ text @include(if: true) @skip(if: true) }',
    '{ echo a: echo(text: null) b: echo(text: "x", number: 1) }',
  ])('%s', async (query) => {
    const world = createWorld()
    expect(await world.told(query)).toEqual(await world.oracle(query))
  })
})

describe('a document that was executed before is answered as graphql-js answers it', () => {
  const query = `query ($a: Boolean = true, $b: Boolean!, $number: Int, $text: String) {
    text @include(if: $a) later @skip(if: $b) ... @include(if: $b) { dog { name @skip(if: $a) barks } }
    echo(text: $text, number: $number) second: echo(number: $number)
  }`
  test.for([
    { b: true },
    { b: false },
    { a: false, b: true },
    { a: true, b: false, number: 1 },
    { a: false, b: false, number: 2, text: 'x' },
    { a: null, b: true },
    { b: true, text: null },
  ])('with the variables %j', async (variables) => {
    const world = createWorld()
    await world.told(query, { b: false, a: false })
    await world.told(query, { b: true })
    expect(await world.told(query, variables)).toEqual(await world.oracle(query, variables))
  })

  test('with more outcomes of its conditions than there are kept plans', async () => {
    const names = ['a', 'b', 'c', 'd']
    const wide = `query (${names.map((name) => `$${name}: Boolean!`).join()}) {
      ${names.map((name) => `${name}: text @include(if: $${name})`).join(' ')}
    }`
    const world = createWorld()
    for (let round = 0; round < 2; round += 1) {
      for (let bits = 0; bits < 16; bits += 1) {
        const variables = Object.fromEntries(names.map((name, at) => [name, (bits >> at) % 2 === 1]))
        expect(await world.told(wide, variables)).toEqual(await world.oracle(wide, variables))
      }
    }
  })
})

describe('a mutation is answered as graphql-js answers it', () => {
  test.for([
    'mutation { a: add(number: 1) b: add(number: 2) c: add(number: 3) }',
    'mutation { fail a: add(number: 1) text }',
    'mutation { text strict a: add(number: 1) }',
    'mutation { text @skip(if: true) }',
    'mutation { __typename text }',
  ])('%s', async (query) => {
    expect(await createWorld().told(query)).toEqual(await createWorld().oracle(query))
  })
})

test('a failure that empties an object hides those that follow it in the document, even earlier ones', async () => {
  const world = createWorld()
  const { data, errors } = await world.told('{ dog { name strictLater failing friend { failing } } failing }')
  expect(data).toEqual({ dog: null, failing: null })
  expect(errors.map(({ path }) => path)).toEqual([['dog', 'strictLater'], ['failing']])
})

test('failures are reported in the order of the document, not in that of time', async () => {
  const { errors } = await createWorld().told(
    '{ failingLater failing a: dogs { failing } strict: dog { strictLater } }',
  )
  expect(errors.map(({ path }) => path)).toEqual([
    ['failingLater'],
    ['failing'],
    ['a', 0, 'failing'],
    ['a', 2, 'failing'],
    ['strict', 'strictLater'],
  ])
})
