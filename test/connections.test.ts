// Connections over GraphQL: every page is the one that Relay's specification says.
import { describe, expect, test } from 'vitest'
import type { Store } from '../src/store/contract.ts'
import { startGateway } from './support/gateway.ts'
import { ANA, documentLine, exportLine } from './support/workspaces.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e']

interface Asked {
  readonly first: number | null
  readonly last: number | null
  readonly after: number | null
  readonly before: number | null
}

/**
 * Sections 4.4 and 4.5 of Relay's specification, word for word, on indexes. A cursor names an
 * item, so this item is beyond it.
 */
function specified({ first, last, after, before }: Asked) {
  const all = NAMES.map((_, index) => index)
  const applied = all.filter((index) => (after === null || index > after) && (before === null || index < before))
  let edges = applied
  if (first !== null) edges = edges.slice(0, first)
  if (last !== null) edges = edges.slice(Math.max(0, edges.length - last))
  return {
    edges,
    hasNextPage: first !== null ? applied.length > first : before !== null,
    hasPreviousPage: last !== null ? applied.length > last : after !== null,
  }
}

const NUMBERS = [null, 0, 2, 4, 5]
const PLACES = [null, 0, 2, 4]
const EVERY_PAGE: readonly Asked[] = NUMBERS.flatMap((first) =>
  NUMBERS.flatMap((last) => PLACES.flatMap((after) => PLACES.map((before) => ({ first, last, after, before })))),
)

const LISTS: Readonly<Record<string, readonly [open: string, close: string]>> = {
  documents: ['me { list: uiLibrariesConnection', '}'],
  exports: ['me { project(ref: "p") { list: exportsConnection', '} }'],
  elements: ['me { latestExport(ref: "p") { list: elementsConnection', '} }'],
}

async function startPaging(wrapStore: (store: Store) => Store = (store) => store) {
  const gateway = await startGateway({ wrapStore })
  await gateway.load(
    documentLine('project', ANA, '{"id":"p"}') +
      NAMES.map((name) => documentLine('uiLibrary', ANA, `{"id":"${name}"}`)).join('') +
      NAMES.map((_, index) =>
        exportLine(ANA, {
          r: 'p',
          createdAt: `2026-01-0${index + 1}T00:00:00Z`,
          elements: NAMES.map((name) => `{"id":"${name}"}`),
        }),
      ).join(''),
  )
  const { accessToken } = await gateway.login(ANA)
  return async (query: string, variables: object = {}) => {
    const { data, errors } = (await gateway.graphql(query, { accessToken, variables })).json()
    const holder = data?.me?.project ?? data?.me?.latestExport ?? data?.me
    return { list: holder?.list, errors }
  }
}

describe.each(Object.entries(LISTS))('the connection of %s', (_, [open, close]) => {
  test('answers every page as the specification of connections says', async () => {
    const ask = await startPaging()
    const { list } = await ask(`{ ${open} { edges { cursor node { id } } } ${close} }`)
    const all: readonly { cursor: string; node: { id: string } }[] = list.edges
    expect(new Set(all.map(({ node }) => node.id)).size).toBe(NAMES.length)
    const query = `query ($first: Int, $last: Int, $after: String, $before: String) {
      ${open}(first: $first, last: $last, after: $after, before: $before) {
        totalCount nodes { id } edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      } ${close} }`
    const cursorAt = (index: number | null) => (index === null ? null : all[index]?.cursor)
    await Promise.all(
      EVERY_PAGE.map(async (page) => {
        const answer = await ask(query, { ...page, after: cursorAt(page.after), before: cursorAt(page.before) })
        const { edges, ...flags } = specified(page)
        const expected = edges.flatMap((index) => all[index] ?? [])
        expect(answer, JSON.stringify(page)).toEqual({
          list: {
            totalCount: NAMES.length,
            nodes: expected.map(({ node }) => node),
            edges: expected.map(({ cursor }) => ({ cursor })),
            pageInfo: {
              ...flags,
              startCursor: expected[0]?.cursor ?? null,
              endCursor: expected.at(-1)?.cursor ?? null,
            },
          },
        })
      }),
    )
  })

  test('takes an empty cursor for none, like the plain list beside it', async () => {
    const ask = await startPaging()
    const connection = '{ nodes { id } pageInfo { hasNextPage hasPreviousPage } }'
    const plain = open.replace('Connection', '')
    for (const [list, fields, number] of [
      [open, connection, 'first: 9'],
      [open, connection, 'first: 2'],
      [open, connection, 'last: 2'],
      [plain, '{ id }', 'first: 2'],
    ]) {
      const [without, after, both] = await Promise.all(
        ['', ', after: ""', list === open ? ', after: "", before: ""' : ''].map((cursors) =>
          ask(`{ ${list}(${number}${cursors}) ${fields} ${close} }`),
        ),
      )
      expect(without?.list).toBeDefined()
      expect([after, both], number).toEqual([without, without])
    }
  })

  test('counts the list without reading its items, however long they are', async () => {
    const fail = () => {
      throw new Error('the items were read')
    }
    const ask = await startPaging((store) => ({
      ...store,
      documentsWithin: fail,
      exportsOf: fail,
      elementsWithin: fail,
    }))
    const number = { list: { totalCount: NAMES.length } }
    expect(await ask(`{ ${open} { totalCount } ${close} }`)).toEqual(number)
    expect(await ask(`{ ${open}(first: 2) { totalCount } ${close} }`)).toEqual(number)
    const { errors } = await ask(`{ ${open} { totalCount pageInfo { hasNextPage } } ${close} }`)
    expect(errors).toEqual([expect.objectContaining({ extensions: expect.objectContaining({ code: 'INTERNAL' }) })])
  })

  test('refuses a negative number and an unknown cursor, and names the argument', async () => {
    const ask = await startPaging()
    const { list } = await ask(`{ ${open} { edges { cursor } } ${close} }`)
    const [{ cursor }] = list.edges
    for (const [page, argument] of [
      ['(first: -1)', 'first'],
      ['(last: -1)', 'last'],
      ['(first: 1, last: -1)', 'last'],
      ['(after: "nowhere")', 'after'],
      ['(last: 1, before: "nowhere")', 'before'],
      // Decoding ignores the spaces, but takes time for each.
      [`(after: "${cursor}${' '.repeat(80)}")`, 'after'],
    ]) {
      const { errors } = await ask(`{ ${open}${page} { totalCount } ${close} }`)
      expect(errors, page).toEqual([
        expect.objectContaining({
          message: expect.stringContaining(`\`${argument}\``),
          extensions: { code: 'INVALID_ARGUMENT' },
        }),
      ])
    }
  })
})
