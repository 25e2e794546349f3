// Makes every small change of an SQL text that a test should notice. A change keeps all parameters, so that it stays a valid statement.

/** Replaces a part of a text, between two offsets. */
export interface SqlMutant {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

interface Token {
  /** In lower case. */
  readonly word: string
  readonly start: number
  readonly end: number
  /** How many parentheses are open around it. */
  readonly depth: number
}

/** Stands for each character of an interpolation. */
export const INTERPOLATED = '\u00a4'

const TOKEN = /--.*|'[^']*'|\u00a4+|[\w$."?]+|<=|>=|<>|!=|<@|@>|->>|->|=>|:=|::|\|\||[^\s\w]/g
/** Messages and names are no SQL. */
const SQL =
  /^\s*(?:select|insert|update|delete|with|create|alter|begin|lock|where|and|from|order by|on conflict|for|join|left join|exists|not exists|case|count)\b|[\w)] (?:<|<=|=|>|>=) [\w$?+']/i

const BEFORE_CONDITION = new Set(['where', 'and', 'or', 'on', 'having', 'when'])
const CLAUSES = new Set(
  `select insert update delete with from where on having when then else end and or set values order group limit offset
  returning window rows range for union except intersect join left cross inner using do begin if return perform truncate ; ,`.split(
    /\s+/,
  ),
)
const AFTER_SET = new Set(['from', 'where', 'returning', ';'])
const AFTER_ORDER = new Set(['limit', 'offset', 'rows', 'range', 'for', 'returning', 'union', 'from', ';'])
const OTHER_WORDS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  pg_advisory_xact_lock: 'pg_advisory_xact_lock_shared',
}
const OTHER_FUNCTIONS: Readonly<Record<string, string>> = {
  min: 'max',
  max: 'min',
  least: 'greatest',
  greatest: 'least',
}
/** Phrases, and what is left of them. */
const OTHER_PHRASES: readonly (readonly [phrase: string, other: string])[] = [
  ['skip locked', ''],
  ['for update', ''],
  ['for no key update', ''],
  ['for share', ''],
  ['for key share', ''],
  ['in share row exclusive mode', 'in access share mode'],
  ['begin immediate', 'begin'],
  ['insert or ignore', 'insert'],
  ['insert or replace', 'insert'],
  ['union all', 'union'],
  ['unique index', 'index'],
  ['on delete cascade', ''],
  ['count ( distinct', 'count('],
  ['select distinct', 'select'],
]

/** `text` has `INTERPOLATED` at the places of its interpolations; `source` is the same text with what is there. */
export function makeSqlMutants(text: string, source: string): readonly SqlMutant[] {
  if (!SQL.test(text)) return []
  const tokens = readTokens(text)
  return tokens.flatMap((token, at) => [
    ...otherWords(tokens, at),
    ...withoutCondition(tokens, at, source),
    ...(token.word === 'order' ? otherOrder(tokens, at) : []),
    ...(token.word === 'limit' ? higherLimit(tokens, at) : []),
    ...(token.word === 'count' ? higherCount(tokens, at) : []),
    ...(token.word === 'join' ? otherJoin(tokens, at) : []),
    ...(token.word === 'set' ? withoutAssignment(tokens, at, source) : []),
    ...(token.word === 'conflict' ? withoutConflict(tokens, at) : []),
  ])
}

function readTokens(text: string): readonly Token[] {
  let depth = 0
  const tokens = Array.from(text.matchAll(TOKEN), ({ 0: found, index }) => {
    if (found === ')') depth -= 1
    const token = { word: found.toLowerCase(), start: index, end: index + found.length, depth }
    if (found === '(') depth += 1
    return token
  })
  return tokens.filter(({ word }) => !word.startsWith('--'))
}

function otherWords(tokens: readonly Token[], at: number): readonly SqlMutant[] {
  const token = tokens[at]
  if (!token) return []
  const isFunction = tokens[at + 1]?.word === '('
  const other = OTHER_WORDS[token.word] ?? (isFunction ? OTHER_FUNCTIONS[token.word] : undefined)
  const phrases = OTHER_PHRASES.flatMap(([phrase, replacement]) => {
    const words = phrase.split(' ')
    const last = tokens[at + words.length - 1]
    return last && words.every((word, index) => tokens[at + index]?.word === word)
      ? [{ start: token.start, end: last.end, replacement }]
      : []
  })
  return other ? [{ start: token.start, end: token.end, replacement: other }, ...phrases] : phrases
}

/** A condition that holds always, or never if it is one of several that are joined by `or`. */
function withoutCondition(tokens: readonly Token[], before: number, source: string): readonly SqlMutant[] {
  const opening = tokens[before]
  if (!opening) return []
  // Also the first condition of a text or in parentheses, if another one follows it.
  const isFirst = opening.word === '(' || before === 0
  const first = BEFORE_CONDITION.has(opening.word) || opening.word === '(' ? before + 1 : before
  if (first === before && !isFirst) return []
  if (isBetween(tokens, before)) return []
  const end = endOf(tokens, first, CLAUSES)
  const [start, last] = [tokens[first], tokens[end - 1]]
  if (!start || !last || end <= first) return []
  const next = tokens[end]
  const joined = next?.depth === start.depth && (next.word === 'and' || next.word === 'or') ? next.word : ''
  if (!BEFORE_CONDITION.has(opening.word) && (joined === '' || start.word.startsWith(INTERPOLATED))) return []
  if (opening.word === 'on' && (start.word === 'true' || !isOfJoin(tokens, before))) return []
  const isOneOf = (opening.word === 'or' || joined === 'or') && opening.word !== 'and' && joined !== 'and'
  const condition = source.slice(start.start, last.end)
  return [{ start: start.start, end: last.end, replacement: `(${condition} ${isOneOf ? 'and false' : 'or true'})` }]
}

/** The `on` of a conflict, an index or a trigger has no condition. */
function isOfJoin(tokens: readonly Token[], on: number): boolean {
  const words = ['join', 'conflict', 'index', 'trigger', 'delete', 'update', 'where']
  const before = tokens.slice(0, on).findLast(({ word, depth }) => depth === tokens[on]?.depth && words.includes(word))
  return before?.word === 'join' && tokens[on + 1]?.word !== 'conflict'
}

/** The `and` of `between … and …` joins no conditions. */
function isBetween(tokens: readonly Token[], at: number): boolean {
  const { word, depth } = tokens[at] ?? {}
  if (word !== 'and') return false
  const before = tokens
    .slice(0, at)
    .findLast((token) => token.depth === depth && (CLAUSES.has(token.word) || token.word === 'between'))
  return before?.word === 'between'
}

/** Where the run of tokens that begins at `first` ends: before one of `ends`, or a closing parenthesis. */
function endOf(tokens: readonly Token[], first: number, ends: ReadonlySet<string>): number {
  const depth = tokens[first]?.depth ?? 0
  const end = tokens.findIndex(
    (token, at) =>
      at >= first &&
      (token.depth < depth ||
        (token.depth === depth && ends.has(token.word) && !isDistinctFrom(tokens, at) && !isBetween(tokens, at))),
  )
  return end === -1 ? tokens.length : end
}

function isDistinctFrom(tokens: readonly Token[], at: number): boolean {
  return tokens[at]?.word === 'from' && tokens[at - 1]?.word === 'distinct'
}

function otherOrder(tokens: readonly Token[], at: number): readonly SqlMutant[] {
  const end = endOf(tokens, at + 2, AFTER_ORDER)
  const [order, last] = [tokens[at], tokens[end - 1]]
  if (!order || !last || tokens[at + 1]?.word !== 'by') return []
  const listed = tokens.slice(at + 2, end)
  const hasParameters = listed.some(({ word }) => /[?$]/.test(word))
  const dropped = hasParameters ? [] : [{ start: order.start, end: last.end, replacement: '' }]
  return [...dropped, ...itemsOf(listed).flatMap((item) => otherDirection(item.at(-1)))]
}

function otherDirection(last: Token | undefined): readonly SqlMutant[] {
  // An interpolation may be the direction.
  if (!last || last.word.startsWith(INTERPOLATED)) return []
  const { word, start, end } = last
  if (word === 'desc') return [{ start, end, replacement: 'asc' }]
  return [{ start: end, end, replacement: ' desc' }]
}

/** Divides at the commas that are in no further parentheses. */
function itemsOf(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const items: Token[][] = [[]]
  for (const token of tokens) {
    if (token.word === ',' && token.depth === tokens[0]?.depth) items.push([])
    else items.at(-1)?.push(token)
  }
  return items
}

function higherLimit(tokens: readonly Token[], at: number): readonly SqlMutant[] {
  return oneMore(tokens[endOf(tokens, at + 1, CLAUSES) - 1])
}

function higherCount(tokens: readonly Token[], at: number): readonly SqlMutant[] {
  const closing = tokens.findIndex(
    ({ word, depth }, index) => index > at && word === ')' && depth === tokens[at]?.depth,
  )
  return tokens[at + 1]?.word === '(' && !['over', 'filter'].includes(tokens[closing + 1]?.word ?? '')
    ? oneMore(tokens[closing])
    : []
}

function oneMore(last: Token | undefined): readonly SqlMutant[] {
  return last ? [{ start: last.end, end: last.end, replacement: ' + 1' }] : []
}

function otherJoin(tokens: readonly Token[], at: number): readonly SqlMutant[] {
  const [before, join] = [tokens[at - 1], tokens[at]]
  if (!join || before?.word === 'cross') return []
  const isLeft = before?.word === 'left'
  return [{ start: isLeft ? before.start : join.start, end: join.end, replacement: isLeft ? 'join' : 'left join' }]
}

/** The column keeps its value. */
function withoutAssignment(tokens: readonly Token[], at: number, source: string): readonly SqlMutant[] {
  const target = targetOf(tokens, at)
  if (!target) return []
  return itemsOf(tokens.slice(at + 1, endOf(tokens, at + 1, AFTER_SET))).flatMap(([column, equals, value, ...rest]) => {
    if (!column || equals?.word !== '=' || !value) return []
    const { end } = rest.at(-1) ?? value
    const kept = `case when true then ${target}.${column.word} else ${source.slice(value.start, end)} end`
    return [{ start: value.start, end, replacement: kept }]
  })
}

/** The name or alias of the table that a `set` changes. */
function targetOf(tokens: readonly Token[], at: number): string | undefined {
  const before = tokens.slice(0, at)
  if (!before.some(({ word }) => word === 'update')) return undefined
  const into = before.findLastIndex(({ word }) => word === 'into')
  const table = before.at(-1)?.word === 'update' ? tokens[into + 1] : before.at(-1)
  return table?.word.split('.').at(-1)
}

/** A conflict fails instead of being ignored. */
function withoutConflict(tokens: readonly Token[], at: number): readonly SqlMutant[] {
  const action = endOf(tokens, at, new Set(['do']))
  const [on, nothing] = [tokens[at - 1], tokens[action + 1]]
  return on && nothing?.word === 'nothing' ? [{ start: on.start, end: nothing.end, replacement: '' }] : []
}
