// Arguments of a random document: pages in both directions, references and ids that exist or do not, some that fail.
import { type GraphQLArgument, type GraphQLField, isRequiredArgument } from 'graphql'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { type ModelObject, type ModelUser, objectsOf } from './model.ts'
import { listBehind } from './model-resolvers.ts'
import { toLiteral, type Used, type Variables } from './variables.ts'

export interface MadeArguments {
  /** With parentheses; empty if there are no arguments. */
  readonly text: string
  readonly values: Readonly<Record<string, unknown>>
  readonly variables: readonly string[]
}

/** `at` is the object that has the field, if it can only be one: only then are its cursors known. */
export type ArgumentMaker = (field: GraphQLField<unknown, unknown>, at: ModelObject | null) => MadeArguments

const NO_CURSORS = ['', 'never', 'bm9wZQ', '%%%', '💥']
/** An `ID` may be written as an integer. */
const NO_IDS = ['', 'p1', 'same', 'bm9wZQ', 'VXNlcjox', 7, 2 ** 53]
/** The longest list of the model has 42 items. */
const LARGE = [41, 42, 43, 1_000, 2 ** 31 - 1]
const OTHER_VALUES: Readonly<Record<string, unknown>> = { Int: 2, 'String!': 'site', 'ID!': 'x', '[ID!]!': ['x'] }

export function createArgumentMaker(
  random: SeededRandom,
  variables: Variables,
  viewer: ModelUser | null,
): ArgumentMaker {
  const chance = (percent: number) => random.below(100) < percent
  const pick = <T>(items: readonly T[]): T | undefined => items[random.below(items.length)]
  const ids = viewer ? objectsOf(viewer).flatMap(({ learned }) => learned.id ?? []) : []
  const refs = ['none', '', ...(viewer?.projects.map(({ ref }) => ref) ?? [])]

  const aNumber = () => (chance(4) ? -1 - random.below(3) : chance(8) ? pick(LARGE) : random.below(5))
  const anId = () => (chance(15) ? pick(NO_IDS) : pick(ids)) ?? 'x'

  /** Returns undefined for an argument that should be left out. */
  function toValue(name: string, field: string, at: ModelObject | null): unknown {
    if (name === 'ref') return pick(refs)
    if (name === 'id') return anId()
    if (name === 'ids') return Array.from({ length: chance(2) ? 100 + random.below(2) : random.below(5) }, anId)
    if (name === 'first' || name === 'last') return aNumber()
    if (name !== 'after' && name !== 'before') return undefined
    if (chance(6)) return pick(NO_CURSORS)
    return pick((at && listBehind(at, field)) ?? [])?.learned.cursor
  }

  function isWanted(argument: GraphQLArgument, others: ReadonlySet<string>): boolean {
    if (isRequiredArgument(argument)) return true
    if (argument.name === 'last' && others.has('first')) return chance(10)
    return chance(30)
  }

  return ({ name: field, args }, at) => {
    const made: (readonly [name: string, used: Used])[] = []
    for (const argument of args) {
      if (!isWanted(argument, new Set(made.map(([name]) => name)))) continue
      const value = toValue(argument.name, field, at)
      if (value === undefined) continue
      const type = String(argument.type)
      const used = chance(35) ? variables.variable(type, value, OTHER_VALUES[type] ?? value) : written(value)
      made.push([argument.name, used])
    }
    return {
      text: made.length === 0 ? '' : `(${made.map(([name, { text }]) => `${name}: ${text}`).join(', ')})`,
      values: Object.fromEntries(made.map(([name, { value }]) => [name, value])),
      variables: made.flatMap(([, used]) => used.variables),
    }
  }

  function written(value: unknown): Used {
    return Array.isArray(value) && chance(50) ? listOf(value) : literal(value)
  }

  /** A list of ids, of which some are variables. */
  function listOf(values: readonly unknown[]): Used {
    const items = values.map((value) => (chance(50) ? variables.variable('ID!', value, 'x') : literal(value)))
    return {
      text: `[${items.map(({ text }) => text).join(', ')}]`,
      value: items.map(({ value }) => value),
      variables: items.flatMap((item) => item.variables),
    }
  }

  function literal(value: unknown): Used {
    if (value !== null && typeof value === 'string' && chance(10) && !/["\\]/.test(value) && value !== '') {
      return { text: `"""${value}"""`, value, variables: [] }
    }
    // A list of one item may be written without brackets.
    if (Array.isArray(value) && value.length === 1 && chance(30))
      return { text: toLiteral(value[0]), value, variables: [] }
    return { text: toLiteral(value), value, variables: [] }
  }
}
