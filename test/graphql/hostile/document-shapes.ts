// More shapes of documents: what somebody would try who knows how parsers, validation rules and executors work.
import { BOUNDED, costly, documentRequest, GUEST, REFUSED, refused, type Shape, TOO_MUCH, times } from './shape.ts'

const LOGIN = 'login(email: "nobody") { accessToken }'

export const DOCUMENT_SHAPES: readonly Shape[] = [
  refused('950 inline fragments in each other', () => `{ ${'... { '.repeat(950)}__typename${' }'.repeat(950)} }`),
  costly('190 inline fragments in each other', () => `{ ${'... { '.repeat(190)}__typename${' }'.repeat(190)} }`),
  refused('1,900 brackets that are never closed', () => '{'.repeat(1_900)),
  refused('a directive nobody knows 600 times', () => `{ __typename ${'@a '.repeat(600)} }`),
  refused('a directive that may stand once, 320 times', () => `{ __typename ${'@skip(if: false) '.repeat(320)} }`),
  costly(
    'a field with a condition 300 times',
    () => `query($a: Boolean!) { ${times(300, () => '__typename @skip(if: $a)')} }`,
    { variables: { a: true } },
  ),
  costly('fields and conditions, each under its own variable', () => {
    const names = Array.from({ length: 150 }, (_, index) => `v${index}`)
    return `query(${names.map((name) => `$${name}: Boolean = true`)}) { ${times(150, (index) => `a${index}: __typename @include(if: $v${index})`)} }`
  }),
  costly('a field 900 times', () => `{ me { ${times(900, () => 'email')} } }`),
  refused('a field 10,000 times', () => `{ me { ${times(10_000, () => 'email')} } }`),
  refused(
    '450 fields of one name that cannot be merged',
    () => `{ ${times(450, (index) => `a: __type(name: "T${index}") { name }`)} }`,
  ),
  refused(
    'fragments that cannot be merged with each other',
    () =>
      `{ ${times(60, (index) => `...F${index}`)} } ${times(60, (index) => `fragment F${index} on Query { a: __type(name: "${index}") { name } }`)}`,
  ),
  refused(
    '330 fragments nobody uses',
    () => `{ __typename } ${times(330, (index) => `fragment F${index} on Query { __typename }`)}`,
  ),
  refused(
    'a circle of 300 fragments',
    () => `{ ...F0 } ${times(300, (index) => `fragment F${index} on Query { ...F${(index + 1) % 300} }`)}`,
  ),
  refused(
    'every fragment spreads every other',
    () => `{ ...F0 } ${times(28, (from) => `fragment F${from} on Query { ${times(28, (to) => `...F${to}`)} }`)}`,
  ),
  costly('one fragment spread 900 times', () => `{ ${times(900, () => '...F')} } fragment F on Query { __typename }`),
  {
    name: '400 operations of one name',
    request: () => documentRequest(times(400, () => 'query Q { __typename }')),
    anonymous: [...REFUSED, '400 OPERATION_NOT_FOUND'],
    signedIn: [...REFUSED, '400 OPERATION_NOT_FOUND'],
  },
  refused('250 logins', () => `mutation { ${times(250, (index) => `a${index}: ${LOGIN}`)} }`),
  refused(
    'logins through a chain of fragments',
    () =>
      `mutation { ...F0 } ${times(90, (index) => `fragment F${index} on Mutation { a${index}: ${LOGIN} ...F${index + 1} }`)} fragment F90 on Mutation { ${LOGIN} }`,
  ),
  costly('300 operations', () => times(300, (index) => `query Q${index} { __typename }`, '\n'), {
    operationName: 'Q299',
  }),
  refused('450 variables nobody uses', () => `query(${times(450, (index) => `$v${index}: Int`)}) { __typename }`),
  refused(
    '250 variables nobody declares',
    () => `query { ${times(250, (index) => `a${index}: __typename @skip(if: $v${index})`)} }`,
  ),
  refused('names that are nearly fields', () => `{ me { ${times(900, (index) => `project${index}`)} } }`),
  refused('types nobody knows', () => `{ ${times(400, (index) => `... on T${index} { a }`)} }`),
  refused('arguments nobody knows', () => `{ me { projects(${times(450, (index) => `a${index}: 1`)}) { ref } } }`),
  refused('an argument 450 times', () => `{ me { projects(${times(450, () => 'first: 1')}) { ref } } }`),
  refused(
    'objects in each other as an argument',
    () => `{ me { projects(first: ${'{a:'.repeat(90)}1${'}'.repeat(90)}) { ref } } }`,
  ),
  refused('an integer of 300,000 digits', () => `{ me { projects(first: ${'9'.repeat(300_000)}) { ref } } }`),
  refused('a float of 300,000 digits', () => `{ me { projects(first: 0.${'9'.repeat(300_000)}) { ref } } }`),
  costly('a reference of 900,000 letters', () => `{ me { project(ref: "${'x'.repeat(900_000)}") { ref } } }`),
  costly('a reference of 140,000 escapes', () => `{ me { project(ref: "${'\\u0041'.repeat(140_000)}") { ref } } }`),
  costly('a block string of 200,000 lines', () => `{ me { project(ref: """${'\n  a'.repeat(200_000)}""") { ref } } }`),
  costly('a block string of quotes', () => `{ me { project(ref: """${'\\"""'.repeat(100_000)}""") { ref } } }`),
  refused('a string that never ends', () => `{ me { project(ref: "${'x'.repeat(900_000)}`),
  costly('a comment that never ends', () => `{ __typename } #${'x'.repeat(900_000)}`),
  costly(
    'types of types of types',
    () => `{ __type(name: "User") { fields { ${'type { ofType { fields { '.repeat(12)}name${' } } }'.repeat(12)} } } }`,
  ),
  costly(
    'fields of types of fields',
    () =>
      `{ __schema { ${'types { fields { type { '.repeat(1)}${'fields { type { '.repeat(6)}name${' } }'.repeat(6)}${' } } }'.repeat(1)} } }`,
  ),
  refused('a document of marks', () => '💥'.repeat(200_000)),
  refused('a document of zeros', () => '\0'.repeat(150_000)),
  {
    name: 'an answer of many errors',
    request: () =>
      documentRequest(`{ me { ${times(160, (index) => `a${index}: latestExport(ref: "none") { ref }`)} } }`),
    anonymous: GUEST,
    signedIn: ['200 NO_PROJECT', ...REFUSED, ...TOO_MUCH],
    maxAnswerBytes: 8_388_608,
  },
  {
    name: 'pages that fail in every project',
    request: () =>
      documentRequest(
        `{ me { projects { ${times(60, (index) => `a${index}: exportsConnection(first: -1) { totalCount }`)} } } }`,
      ),
    anonymous: GUEST,
    signedIn: ['200 INVALID_ARGUMENT', ...REFUSED, ...TOO_MUCH],
    maxAnswerBytes: 8_388_608,
  },
  costly(
    'names of JavaScript',
    () => `{ __proto__: __typename constructor: __typename toJSON: __typename then: __typename }`,
  ),
  {
    name: 'things by 90 lists of ids',
    // Without global ids, this field does not exist.
    request: () => documentRequest(`{ ${times(90, (index) => `a${index}: nodes(ids: ["x", "y", "z"]) { id }`)} }`),
    anonymous: [...GUEST, '400 UNAUTHENTICATED', '401 UNAUTHENTICATED'],
    signedIn: BOUNDED,
  },
  {
    name: 'things by a list of 100,000 ids',
    request: () =>
      documentRequest('query($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
        variables: { ids: Array.from({ length: 100_000 }, (_, index) => index) },
      }),
    anonymous: [...GUEST, '401 UNAUTHENTICATED', '400 INVALID_ARGUMENT', '200 INVALID_ARGUMENT'],
    signedIn: [...BOUNDED, '400 INVALID_ARGUMENT', '200 INVALID_ARGUMENT'],
  },
  {
    name: 'deferred 200 times',
    request: () => documentRequest(`{ ${times(200, () => '... @defer { __typename }')} }`),
    anonymous: [...REFUSED, '400 INCREMENTAL_DELIVERY_NOT_SUPPORTED'],
    signedIn: [...REFUSED, '400 INCREMENTAL_DELIVERY_NOT_SUPPORTED'],
  },
]
