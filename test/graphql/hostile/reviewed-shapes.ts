// The shapes that stopped or ended an earlier gateway, each as it was found.
import { createNodeIds } from '../../../src/resolvers/identity/node-id.ts'
import { costly, documentRequest, GUEST, type HostileRequest, read, refused, type Shape, times } from './shape.ts'
import { ALMOST_STRINGS, ATTACKER, GRID } from './world.ts'

const FIELDS = 'ref name description framework tags version createdAt updatedAt cursor data'

/** Each fragment spreads the next one twice: 2^levels paths in a few hundred bytes. */
function doubling(levels: number, type: string, field: string): string {
  const bodies = times(levels, (level) => `fragment F${level} on ${type} { ...F${level + 1} ...F${level + 1} }`)
  return `${bodies} fragment F${levels} on ${type} { ${field} }`
}

/** Each fragment asks for the next one under two names: all paths are different fields. */
function branching(levels: number): string {
  const bodies = times(
    levels,
    (level) => `fragment F${level} on __Type { a: ofType { ...F${level + 1} } b: ofType { ...F${level + 1} } }`,
  )
  return `{ __type(name: "User") { ...F0 } } ${bodies} fragment F${levels} on __Type { name }`
}

/** Requests one template of the attacker in many lists. */
function nodesOf(id: string, listCount: number, selection: string): HostileRequest {
  const lists = times(listCount, (index) => `a${index}: nodes(ids: $ids) { ...Asked }`)
  const node = createNodeIds(ATTACKER).document({ kind: 'template', id })
  return documentRequest(`query($ids: [ID!]!) { ${lists} } fragment Asked on Template { ${selection} }`, {
    variables: { ids: Array.from({ length: 100 }, () => node) },
  })
}

/** Requests members of documents in which members take long to find. */
function search(name: string, request: () => HostileRequest): Shape {
  return {
    name,
    request,
    anonymous: [...GUEST, '401 UNAUTHENTICATED'],
    signedIn: ['200'],
    maxAnswerBytes: 8_388_608,
  }
}

export const REVIEWED_SHAPES: readonly Shape[] = [
  refused(
    '24 levels of mutation fragments',
    () => `mutation { ...F0 } ${doubling(24, 'Mutation', 'login(email: "x") { nothing }')}`,
  ),
  refused('150 levels of mutation fragments', () => `mutation { ...F0 } ${doubling(150, 'Mutation', 'nothing')}`),
  refused('a field name of 200,000 letters', () => `{ ${'a'.repeat(200_000)} }`),
  refused('a field name of 900,000 letters', () => `{ ${'a'.repeat(900_000)} }`),
  costly('aliases in nested fragments, 2^9 paths', () => branching(9)),
  costly('aliases in nested fragments, 2^60 paths', () => branching(60)),
  costly('fragments of 2^60 paths to one field', () => `{ ...F0 } ${doubling(60, 'Query', '__typename')}`),
  read('55 aliases of projects with all they have', () => {
    const one = `projects { ${FIELDS} latestExport { digest data elements { name path data } } }`
    return `query Q { me { ${times(55, (index) => `a${index}: ${one}`)} } }`
  }),
  {
    name: 'a Content-Type with 15,000 spaces',
    request: () => ({
      ...documentRequest('{ __typename }'),
      headers: { 'content-type': `application/json${' '.repeat(15_000)}x` },
    }),
    anonymous: ['415 UNSUPPORTED_MEDIA_TYPE'],
    signedIn: ['415 UNSUPPORTED_MEDIA_TYPE'],
  },
  search('a long document 100 times', () => nodesOf(GRID, 1, 'name version')),
  search('a long document 4,900 times', () => nodesOf(GRID, 49, 'version')),
  search('a member of a long document 90 times', () =>
    nodesOf(
      ALMOST_STRINGS,
      1,
      times(90, (index) => `a${index}: tags`),
    ),
  ),
  search('a list with long documents 90 times', () =>
    documentRequest(`{ me { ${times(90, (index) => `a${index}: templates { name }`)} } }`),
  ),
  // Requests that are no attack must be answered.
  {
    name: 'all exports, once',
    request: () => documentRequest('{ me { projects { exports { data } } } }'),
    anonymous: GUEST,
    signedIn: ['200'],
    maxAnswerBytes: Number.POSITIVE_INFINITY,
  },
  {
    name: 'all elements, once',
    request: () => documentRequest('{ me { projects { exports { elements { name path content } } } } }'),
    anonymous: GUEST,
    signedIn: ['200'],
    maxAnswerBytes: Number.POSITIVE_INFINITY,
  },
  ...[8, 30, 110, 160].map((count) =>
    read(
      `${count} aliases of all exports' data`,
      () => `{ me { ${times(count, (index) => `a${index}: projects { exports { data } }`)} } }`,
    ),
  ),
  ...[8, 20, 130].map((count) =>
    read(
      `${count} aliases of all exports' elements`,
      () => `{ me { ${times(count, (index) => `a${index}: projects { exports { elements { name } } }`)} } }`,
    ),
  ),
  read('80 aliases of connections in connections', () => {
    const inner =
      'nodes { exportsConnection { totalCount nodes { elementsConnection { totalCount edges { cursor } } } } }'
    return `{ me { ${times(80, (index) => `a${index}: projectsConnection { totalCount ${inner} }`)} } }`
  }),
  read('320 aliases of projects', () => `{ me { ${times(320, (index) => `a${index}: projects { ref }`)} } }`),
  refused('1,980 brackets as an argument', () => `{ me { project(ref: ${'['.repeat(1_980)}`),
  costly(
    'the schema 90 times',
    () => `{ ${times(90, (index) => `a${index}: __schema { types { fields { args { name } } } }`)} }`,
  ),
  costly(
    '150 selections that overlap',
    () =>
      `{ ${times(150, (index) => `me { projects { a${index % 7}: ref latestExport { b${index % 5}: digest } } }`)} }`,
  ),
  costly('a megabyte of commas', () => `{ __typename ${','.repeat(1_000_000)} }`),
  costly('a megabyte of comments', () => `{ __typename ${'#\n'.repeat(330_000)} }`),
  costly('variables of a megabyte', () => 'query($s: String) { __typename }', {
    variables: { s: 'x'.repeat(1_000_000) },
  }),
]
