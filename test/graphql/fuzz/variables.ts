// The variables of a random document: with defaults, given, null or absent, as their types allow.
import type { SeededRandom } from '../../support/seeded-random.ts'
import type { Scope } from './scope.ts'

export interface Used {
  /** The text in the document. */
  readonly text: string
  /** The value that it results in; undefined if it is absent. */
  readonly value: unknown
  readonly variables: readonly string[]
}

export interface Variables {
  /** A literal or a variable for the argument of an `@skip` or `@include`. */
  readonly condition: (scope: Scope) => string
  /**
   * A variable for a place of this type, written in SDL. It results in `value` or, where null is allowed, in nothing.
   */
  readonly variable: (type: string, value: unknown, otherValue: unknown) => Used
  /** `($a: Int = 1, …)`; empty for none. */
  readonly define: (names: ReadonlySet<string>) => string
  readonly given: () => Readonly<Record<string, unknown>>
}

const NAMES = ['a', 'n', 'then', 'skip', 'if', 'first', 'v', '_']

export function createVariables({ below }: SeededRandom): Variables {
  const definitions = new Map<string, string>()
  const given: Record<string, unknown> = {}
  const conditions: string[] = []
  const chance = (percent: number) => below(100) < percent

  function add(type: string, defaultValue: unknown): string {
    const name = `${NAMES[below(NAMES.length)]}${definitions.size}`
    definitions.set(name, `$${name}: ${type}${defaultValue === undefined ? '' : ` = ${toLiteral(defaultValue)}`}`)
    return name
  }

  function variable(type: string, value: unknown, otherValue: unknown): Used {
    const isRequired = type.endsWith('!')
    const bare = isRequired ? type.slice(0, -1) : type
    const roll = below(100)
    const used = (name: string, comesTo: unknown): Used => ({ text: `$${name}`, value: comesTo, variables: [name] })
    const give = (name: string, comesTo: unknown) => {
      given[name] = comesTo
      return used(name, comesTo)
    }
    // Make few of these: a document that is not answered at all tells little.
    if (roll < 1) return used(add(`${bare}!`, undefined), undefined)
    if (roll < 40) return give(add(isRequired || chance(30) ? `${bare}!` : bare, undefined), value)
    if (roll < 60) return used(add(chance(50) ? `${bare}!` : bare, value), value)
    if (roll < 80) return give(add(chance(50) ? `${bare}!` : bare, otherValue), value)
    // Null is an error of the field if the variable's type allows it and the argument's type does not.
    if (isRequired) return chance(5) ? give(add(bare, value), null) : give(add(bare, otherValue), value)
    if (roll < 90) return give(add(bare, [otherValue, null, undefined][below(3)]), null)
    return used(add(bare, undefined), undefined)
  }

  return {
    variable,
    condition(scope) {
      if (chance(35)) return chance(50) ? 'true' : 'false'
      const known = conditions[below(4)]
      if (known === undefined) {
        const isTrue = chance(50)
        conditions.push(...variable('Boolean!', isTrue, !isTrue).variables)
      }
      const name = known ?? conditions.at(-1) ?? ''
      scope.variables.add(name)
      return `$${name}`
    },
    define(names) {
      const own = [...names].map((name) => definitions.get(name))
      return own.length === 0 ? '' : `(${own.join(', ')})`
    },
    given: () => given,
  }
}

/** A GraphQL literal of a scalar or a list of them. */
export function toLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toLiteral).join(', ')}]`
  return JSON.stringify(value) ?? 'null'
}
