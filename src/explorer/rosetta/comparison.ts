// Compares a REST response with a GraphQL response as text, because both promise the stored documents byte for byte.
import { elementTexts, membersOf, memberText } from '../../json-text.ts'

export interface Difference {
  readonly rest: string
  readonly graphql: string
}

/** `refused`: both sides return the same error. `incomparable`: there is no basis for a comparison. */
export interface Verdict {
  readonly kind: 'same' | 'different' | 'refused' | 'incomparable'
  readonly text: string
  /** The first position at which the two sides differ, with the text around it. */
  readonly difference?: Difference
  /** True if both sides refuse because nothing is stored for the user yet. */
  readonly isUnfilled?: true
}

interface Compared {
  /** The HTTP status; 0 when no response arrived. */
  readonly status: number
  readonly isJson: boolean
  readonly text: string
}

export function compare(rest: Compared, graphql: Compared): Verdict {
  return whyNot(rest, graphql) ?? compareTexts(rest.text, graphql.text, [rest.status, graphql.status])
}

/** Why two answers cannot be compared; null where they can. */
export function whyNot(rest: Compared, graphql: Compared): Verdict | null {
  return whoLacks('answer', rest.status === 0, graphql.status === 0) ?? whoLacks('JSON', !rest.isJson, !graphql.isJson)
}

function whoLacks(what: string, isRest: boolean, isGraphql: boolean): Verdict | null {
  if (isRest && isGraphql) return incomparable(`Neither side has any ${what} to compare.`)
  if (isRest || isGraphql) return incomparable(`${isRest ? 'REST' : 'GraphQL'} has no ${what} to compare.`)
  return null
}

/** Compares two texts that are both valid JSON. */
export function compareTexts(
  rest: string,
  graphql: string,
  statuses: readonly [rest: number, graphql: number],
): Verdict {
  const [restCode, graphqlCode] = [problemCode(rest), errorCode(graphql)]
  if (restCode === 'NO_WORKSPACE' && isWithoutMe(graphql)) {
    return { kind: 'refused', text: NO_WORKSPACE, isUnfilled: true }
  }
  if (restCode !== null || graphqlCode !== null) {
    if (restCode === graphqlCode) return { kind: 'refused', text: `Both sides refuse, with ${restCode}.` }
    if (graphqlCode === 'GRAPHQL_VALIDATION_FAILED' || graphqlCode === 'GRAPHQL_PARSE_FAILED') {
      return incomparable(`GraphQL could not run the query (${graphqlCode}).`)
    }
    if (restCode === 'MISSING_PARAMETER') return incomparable(EMPTY_PARAMETER)
    const said = [restCode ?? statuses[0], graphqlCode ?? statuses[1]]
    return { kind: 'different', text: `REST answers ${said[0]}, GraphQL ${said[1]}.` }
  }
  const [documents, twins] = [elementTexts(rest), graphqlDocuments(graphql)]
  if (documents === null) return compareMembers(rest, graphql)
  if (twins === null) return incomparable(NO_DATA)
  return compareDocuments(documents, twins)
}

const NO_WORKSPACE =
  'No workspace is stored for this email yet: REST says so with 404 NO_WORKSPACE, GraphQL with me: null.'

const NO_DATA = 'There is nothing to compare with: the query selects no data of a list or an export under me.'

// GraphQL looks for a project with an empty reference.
const EMPTY_PARAMETER = 'Enter the reference of a project: REST refuses an empty one, with MISSING_PARAMETER.'

function incomparable(text: string): Verdict {
  return { kind: 'incomparable', text }
}

function compareDocuments(documents: readonly string[], twins: readonly string[]): Verdict {
  if (documents.length !== twins.length) {
    return {
      kind: 'different',
      text: `REST holds ${count(documents.length)}, GraphQL ${twins.length.toLocaleString()}.`,
    }
  }
  const other = documents.findIndex((text, index) => text !== twins[index])
  if (other !== -1) {
    const [left, right] = [documents[other] ?? '', twins[other] ?? '']
    let at = 0
    while (left[at] === right[at]) at += 1
    const around = (text: string) => text.slice(Math.max(0, at - 30), at + 40)
    return {
      kind: 'different',
      text: `Document ${other + 1} differs at character ${at + 1}.`,
      difference: { rest: around(left), graphql: around(right) },
    }
  }
  if (documents.length === 0) return { kind: 'same', text: 'Both sides hold no document.' }
  const same = documents.length === 1 ? 'document' : count(documents.length)
  return { kind: 'same', text: `Both sides hold the same ${same}, byte for byte.` }
}

function count(documents: number): string {
  return documents === 1 ? '1 document' : `${documents.toLocaleString()} documents`
}

/** Compares session calls by the names of their members, because the token values differ with every call. */
function compareMembers(rest: string, graphql: string): Verdict {
  const [result] = membersOf(memberText(graphql, 'data') ?? 'null')
  const twin = result && memberText(graphql, 'data')?.slice(result.start, result.end)
  const [names, twinNames] = [rest, twin ?? 'null'].map((text) => membersOf(text).map(({ name }) => name))
  if (names?.length === 0 && twin === 'true') return { kind: 'same', text: 'Both sides ended a session.' }
  return names?.join() === twinNames?.join()
    ? { kind: 'same', text: `Both sides answer with ${names?.join(' and ')}.` }
    : { kind: 'different', text: 'The two answers have different members.' }
}

/**
 * Collects the documents of all lists and exports directly under `data.me` whose `data` the query selects. Returns null
 * if there are none.
 */
function graphqlDocuments(text: string): readonly string[] | null {
  const me = memberText(memberText(text, 'data') ?? 'null', 'me') ?? 'null'
  const found = membersOf(me).flatMap(({ start, end }): readonly (readonly string[])[] => {
    const value = me.slice(start, end)
    const items = elementTexts(value)
    const documents =
      items?.map((item) => memberText(item, 'data')) ?? elementTexts(memberText(value, 'data') ?? 'null')
    return documents?.every((document) => document !== null) ? [documents] : []
  })
  return found.length === 0 ? null : found.flat()
}

function isWithoutMe(graphql: string): boolean {
  return memberText(memberText(graphql, 'data') ?? 'null', 'me') === 'null' && errorCode(graphql) === null
}

function problemCode(text: string): string | null {
  return stringOf(memberText(text, 'code'))
}

function errorCode(text: string): string | null {
  const first = elementTexts(memberText(text, 'errors') ?? 'null')?.[0] ?? 'null'
  return stringOf(memberText(memberText(first, 'extensions') ?? 'null', 'code'))
}

function stringOf(json: string | null): string | null {
  const value: unknown = json === null ? null : JSON.parse(json)
  return typeof value === 'string' ? value : null
}
