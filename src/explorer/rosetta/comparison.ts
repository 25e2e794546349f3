// Whether a REST answer and a GraphQL answer hold the same, compared as text: byte for byte, as both promise.
import { elementTexts, membersOf, memberText } from '../../json-text.ts'
import type { Answer } from '../answer.ts'
import { isJson } from '../json-lines.ts'

export interface Verdict {
  readonly isSame: boolean
  readonly text: string
}

export function compare(rest: Answer, graphql: Answer): Verdict {
  if (!isJson(rest.text) || !isJson(graphql.text)) {
    return { isSame: false, text: 'There is no JSON on both sides to compare.' }
  }
  const [restCode, graphqlCode] = [problemCode(rest.text), errorCode(graphql.text)]
  if (restCode !== null || graphqlCode !== null) {
    if (restCode === graphqlCode) return { isSame: true, text: `Both sides refuse, with ${restCode}.` }
    return { isSame: false, text: `REST: ${restCode ?? rest.status}. GraphQL: ${graphqlCode ?? graphql.status}.` }
  }
  const [documents, twins] = [elementTexts(rest.text), graphqlDocuments(graphql.text)]
  if (documents === null) return compareMembers(rest.text, graphql.text)
  if (twins === null) return { isSame: false, text: 'The query selects no `data`, so there is nothing to compare.' }
  if (documents.length !== twins.length) {
    return { isSame: false, text: `REST holds ${count(documents.length)}, GraphQL ${twins.length}.` }
  }
  const firstOther = documents.findIndex((text, index) => text !== twins[index])
  if (firstOther !== -1) return { isSame: false, text: `Document ${firstOther + 1} differs.` }
  if (documents.length === 0) return { isSame: true, text: 'Both sides hold no document.' }
  const same = documents.length === 1 ? 'document' : count(documents.length)
  return { isSame: true, text: `Both sides hold the same ${same}, byte for byte.` }
}

function count(documents: number): string {
  return documents === 1 ? '1 document' : `${documents} documents`
}

/** Session calls: tokens differ from call to call, what they are called does not. */
function compareMembers(rest: string, graphql: string): Verdict {
  const [result] = membersOf(memberText(graphql, 'data') ?? 'null')
  const twin = result && memberText(graphql, 'data')?.slice(result.start, result.end)
  const [names, twinNames] = [rest, twin ?? 'null'].map((text) => membersOf(text).map(({ name }) => name))
  if (names?.length === 0 && twin === 'true') return { isSame: true, text: 'Both sides ended a session.' }
  return names?.join() === twinNames?.join()
    ? { isSame: true, text: `Both sides answer with ${names?.join(' and ')}.` }
    : { isSame: false, text: 'The two answers have different members.' }
}

/** The documents under `data.me`, of whatever lists and exports the query selects; null when it leaves `data` out. */
function graphqlDocuments(text: string): readonly string[] | null {
  const me = memberText(memberText(text, 'data') ?? 'null', 'me') ?? 'null'
  const found = membersOf(me).flatMap(({ start, end }): readonly (readonly (string | null)[])[] => {
    const value = me.slice(start, end)
    const items = elementTexts(value)
    if (items) return [items.map((item) => memberText(item, 'data'))]
    const elements = elementTexts(memberText(value, 'data') ?? 'null')
    return elements ? [elements] : []
  })
  const documents = found.flat().filter((document) => document !== null)
  return found.length === 0 || documents.length < found.flat().length ? null : documents
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
