// Small documents with large effects: aliased fields below a list of one thing a hundred times, most of which fail.
import { createNodeIds } from '../../../src/resolvers/identity/node-id.ts'
import { documentRequest, GUEST, type HostileRequest, type Shape, TOO_MUCH, times } from './shape.ts'

const IDS_OF_ONE_LIST = 100
const LONG_NAME = 'n'.repeat(250)

/** Requests `count` lists of the user with this email, and `selection` of each. `declared` declares a null variable. */
function listsOf(email: string, count: number, selection: string, declared = ''): HostileRequest {
  const id = createNodeIds(email).user()
  const lists = times(count, (index) => `a${index}: nodes(ids: $ids) { ...Asked }`)
  const document = `query($ids: [ID!]! ${declared}) { ${lists} } fragment Asked on User { ${selection} }`
  return documentRequest(document, {
    variables: { ids: Array.from({ length: IDS_OF_ONE_LIST }, () => id), text: null },
  })
}

/** For the user with this email, each is answered in full or refused as too large. */
export function failingShapes(email: string): readonly Shape[] {
  const shape = (name: string, outcome: string, request: () => HostileRequest): Shape => ({
    name,
    request,
    anonymous: [...GUEST, '401 UNAUTHENTICATED'],
    signedIn: [outcome, ...TOO_MUCH],
    maxAnswerBytes: 33_554_432,
  })
  const failing = (count: number, prefix = 'b') =>
    times(count, (index) => `${prefix}${index}: latestExport(ref: "none") { ref }`)
  return [
    shape('45,000 errors', '200 NO_PROJECT', () => listsOf(email, 5, failing(90))),
    shape('20,000 errors under long names', '200 NO_PROJECT', () => listsOf(email, 5, failing(40, LONG_NAME))),
    shape('9,000 arguments that do not fit, in 3,000 lines', '200 GRAPHQL_VALIDATION_FAILED', () =>
      listsOf(
        email,
        1,
        times(90, (index) => `b${index}: latestExport(ref: $text) { ref }`),
        `$text: String = "x" ${'\n'.repeat(3_000)}`,
      ),
    ),
    shape('4,900 items that fail', '200 INVALID_ARGUMENT', () => listsOf(email, 49, 'projects(first: -1) { ref }')),
    shape('27,000 connections', '200', () =>
      listsOf(
        email,
        3,
        times(90, (index) => `b${index}: projectsConnection(first: ${index}) { pageInfo { hasNextPage } }`),
      ),
    ),
    shape('45,000 projects that are not there', '200', () =>
      listsOf(
        email,
        5,
        times(90, (index) => `b${index}: project(ref: "none${index}") { ref }`),
      ),
    ),
  ]
}
