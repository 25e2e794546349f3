// Random valid documents, made from the schema: nested fragments, spreads with conditions, fields that merge.
import {
  doTypesOverlap,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
} from 'graphql'
import { createSeededRandom } from '../../support/seeded-random.ts'
import { type ArgumentMaker, createArgumentMaker } from './arguments.ts'
import { type ModelExport, type ModelObject, type ModelProject, type ModelUser, objectsOf } from './model.ts'
import { isModelled } from './model-resolvers.ts'
import type { Operation } from './oracle.ts'
import { emptyScope, expandedFields, reachedFragments, type Scope } from './scope.ts'
import { createVariables } from './variables.ts'

type FieldsType = Extract<GraphQLCompositeType, { getFields: unknown }>
type Field = GraphQLField<unknown, unknown>

const MAX_DEPTH = 8
const MAX_FIELDS = 16
/** The limit for an operation with its fragments expanded: fewer fields than the gateway allows by default. */
const MAX_EXPANDED_FIELDS = 400
/** Added to the seed to make another document when one is too large. */
const NEXT_SEED = 0x5bd1e995
/** The path of all fields in fragments. */
const ANYWHERE = ''
const SEPARATORS = [' ', ' ', ' ', ' ', ' ', ' ', ', ', '\n  ', ' # "a" {\n']
/** Names that trip up JavaScript programs, and names that fields have too. */
const ALIASES =
  'a b c then toJSON constructor __proto__ hasOwnProperty length toString valueOf prototype data errors name id ref _ me nodes'.split(
    ' ',
  )
const INTROSPECTIONS = [
  ['__schema', '', '{ queryType { name } mutationType { name fields { name } } subscriptionType { name } }'],
  [
    '__schema',
    '',
    '{ directives { name locations isRepeatable args { name defaultValue type { kind ofType { name } } } } }',
  ],
  ['__type', '(name: "User")', '{ name kind description fields { name args { name type { name kind } } } }'],
  [
    '__type',
    '(name: "Export")',
    '{ fields(includeDeprecated: true) { name type { kind ofType { name kind } } } interfaces { name } }',
  ],
  ['__type', '(name: "Nothing")', '{ name }'],
] as const

interface Fragment {
  readonly name: string
  readonly type: FieldsType
  readonly scope: Scope
  text: string
}

/** The same seed makes the same document. */
export type DocumentGenerator = (viewer: ModelUser | null, seed: number) => Operation

export function createDocumentGenerator(schema: GraphQLSchema): DocumentGenerator {
  const types = Object.values(schema.getTypeMap()).filter(
    (type): type is FieldsType => isObjectType(type) || isInterfaceType(type),
  )
  const fieldsOf = new Map(types.map((type) => [type, modelledFields(schema, type)]))
  return (viewer, seed) => {
    let own = seed
    let made = generate(schema, fieldsOf, viewer, own)
    while (made === null) {
      own += NEXT_SEED
      made = generate(schema, fieldsOf, viewer, own)
    }
    return made
  }
}

/** The fields that the model can answer for every type that a value may have. */
function modelledFields(schema: GraphQLSchema, type: FieldsType): readonly Field[] {
  const owners = isAbstractType(type) ? schema.getPossibleTypes(type) : [type]
  return Object.values(type.getFields()).filter((field) => owners.every(({ name }) => isModelled(name, field.name)))
}

/** Returns null if the document would be too large. */
function generate(
  schema: GraphQLSchema,
  fieldsByType: ReadonlyMap<FieldsType, readonly Field[]>,
  viewer: ModelUser | null,
  seed: number,
): Operation | null {
  const random = createSeededRandom(seed)
  const chance = (percent: number) => random.below(100) < percent
  const pick = <T>(items: readonly T[]): T => {
    const item = items[random.below(items.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }
  const variables = createVariables(random)
  const makeArguments: ArgumentMaker = createArgumentMaker(random, variables, viewer)
  /**
   * What names in the response mean, by path: at one path, fields are merged. Fragments may be spread at any path, so
   * what a name means in one of them holds everywhere.
   */
  const meanings = new Map<string, string>()
  const typesOfNames = new Map<string, string>()
  /** Whether a name may mean something else in another object type at the same path, if its own type is the same. */
  const differsByType = chance(50)
  const fieldsMade = new Map<unknown, { readonly field: Field; readonly args: ReturnType<ArgumentMaker> }[]>()
  const fragments = declareFragments()
  let fieldsLeft = MAX_FIELDS

  function declareFragments(): Fragment[] {
    const types = [...fieldsByType].flatMap(([type, fields]) =>
      fields.length > 0 && type.name !== 'Query' ? type : [],
    )
    return Array.from({ length: random.below(5) }, (_, index) => ({
      name: pick(['F', 'Detail', 'on_', 'fragment', 'type', 'Query']) + index,
      type: pick(chance(50) ? types.filter(({ name }) => /^(?:User|Project|Export|Node)$/.test(name)) : types),
      scope: emptyScope(),
      text: '',
    }))
  }

  function selectionSet(type: FieldsType, depth: number, at: ModelObject | null, scope: Scope, path: string): string {
    // A user is always the viewer.
    const own = type.name === 'User' ? viewer : at
    const parts = Array.from({ length: 1 + random.below(4) }, () => selection(type, depth, own, scope, path))
    return `{ ${parts.flat().join(pick(SEPARATORS))} }`
  }

  function selection(
    type: FieldsType,
    depth: number,
    at: ModelObject | null,
    scope: Scope,
    path: string,
  ): readonly string[] {
    const roll = random.below(100)
    if (roll < 14 && depth > 0) return [inlineFragment(type, depth, at, scope, path)]
    if (roll < 34) {
      const spreads = spread(type, scope)
      if (spreads.length > 0) return spreads
    }
    if (roll < 39) return [`${typename(type, path)}${directives(scope)}`]
    return [field(type, depth, at, scope, path)]
  }

  function inlineFragment(type: FieldsType, depth: number, at: ModelObject | null, scope: Scope, path: string): string {
    const near = [type, ...type.getInterfaces(), ...(isAbstractType(type) ? schema.getPossibleTypes(type) : [])]
    const condition = pick(near)
    const text = chance(20) && condition === type ? '' : ` on ${condition.name}`
    const inside = isAbstractType(condition) || at?.__typename === condition.name ? at : null
    return `...${text}${directives(scope)} ${selectionSet(condition, depth - 1, inside, scope, path)}`
  }

  /** Often the same fragment twice, under different conditions. */
  function spread(type: FieldsType, scope: Scope): readonly string[] {
    const fitting = fragments.filter((one) => one.text !== '' && doTypesOverlap(schema, type, one.type))
    if (fitting.length === 0) return []
    const { name } = pick(fitting)
    return Array.from({ length: chance(40) ? 2 : 1 }, () => {
      scope.spreads.push(name)
      return `...${name}${directives(scope)}`
    })
  }

  function field(type: FieldsType, depth: number, at: ModelObject | null, scope: Scope, path: string): string {
    if (type.name === 'Query' && chance(12)) {
      const [name, args, inside] = pick(INTROSPECTIONS)
      return `${named(keyOf(type, name, args, name, path), name, args)}${directives(scope)} ${inside}`
    }
    const isDeep = depth > 0 && fieldsLeft > 0
    const fields = (fieldsByType.get(type) ?? []).filter((one) => isDeep || !isCompositeType(getNamedType(one.type)))
    if (fields.length === 0) return typename(type, path)
    fieldsLeft -= 1
    scope.fields += 1
    const made = fieldsMade.get(at ?? type) ?? []
    const again = made.length > 0 && chance(25) ? pick(made) : null
    const chosen = again && fields.includes(again.field) ? again.field : weighted(type, fields)
    const args = again?.field === chosen ? again.args : makeArguments(chosen, at)
    fieldsMade.set(at ?? type, [...made, { field: chosen, args }])
    for (const name of args.variables) scope.variables.add(name)
    const key = keyOf(type, chosen.name, args.text, String(chosen.type), path)
    const head = `${named(key, chosen.name, args.text)}${directives(scope)}`
    const inner = getNamedType(chosen.type)
    if (!isObjectType(inner) && !isInterfaceType(inner)) return head
    const child = childOf(at, chosen.name, args.values)
    return `${head} ${selectionSet(inner, depth - 1, child, scope, path === ANYWHERE ? ANYWHERE : `${path}.${key}`)}`
  }

  /** Most of what a query selects belongs to the signed-in user. */
  function weighted(type: FieldsType, fields: readonly Field[]): Field {
    const me = fields.find(({ name }) => type.name === 'Query' && name === 'me')
    if (me && chance(65)) return me
    const composite = fields.filter((one) => isCompositeType(getNamedType(one.type)))
    return pick(composite.length > 0 && chance(45) ? composite : fields)
  }

  function childOf(
    at: ModelObject | null,
    name: string,
    { ref, id }: Readonly<Record<string, unknown>>,
  ): ModelObject | null {
    if (name === 'me') return viewer
    if (name === 'node') return (viewer && objectsOf(viewer).find(({ learned }) => learned.id === id)) ?? null
    const project = at?.__typename === 'User' ? at.projects.find((one) => one.ref === ref) : at
    if (name === 'project') return (project as ModelProject | undefined) ?? null
    if (name === 'latestExport' && project?.__typename === 'Project') return (project.exports[0] as ModelExport) ?? null
    return null
  }

  function keyOf(parent: FieldsType, name: string, args: string, type: string, path: string): string {
    // A field of an interface is merged with those of all object types: there it has its own name, and nothing else has.
    if (differsByType && isInterfaceType(parent)) return name
    const owner = differsByType ? parent.name : ''
    const meaning = `${name}${args}: ${type}`
    const isFree = (key: string) =>
      !(differsByType && key === 'id' && name !== 'id') &&
      [ANYWHERE, path].every(
        (place) =>
          (meanings.get(`${place} ${owner} ${key}`) ?? meaning) === meaning &&
          (typesOfNames.get(`${place} ${key}`) ?? type) === type,
      )
    let key = chance(25) ? pick(ALIASES) : name
    for (let number = 1; !isFree(key); number += 1) key = `${name.replace(/^_+/, '')}_${number}`
    meanings.set(`${path} ${owner} ${key}`, meaning)
    typesOfNames.set(`${path} ${key}`, type)
    return key
  }

  function named(key: string, name: string, args: string): string {
    return key === name ? `${name}${args}` : `${key}: ${name}${args}`
  }

  function typename(parent: FieldsType, path: string): string {
    return named(keyOf(parent, '__typename', '', 'String!', path), '__typename', '')
  }

  function directives(scope: Scope): string {
    if (!chance(28)) return ''
    const names = chance(10) ? ['skip', 'include'] : [pick(['skip', 'include'])]
    return names.map((name) => ` @${name}(if: ${variables.condition(scope)})`).join('')
  }

  for (const fragment of fragments) {
    fragment.text = ''
    const at = null
    const text = selectionSet(fragment.type, random.below(5), at, fragment.scope, ANYWHERE)
    fragment.text = `fragment ${fragment.name} on ${fragment.type.name} ${text}`
  }

  const query = schema.getQueryType()
  if (!query) throw new Error('the schema has no queries')
  const count = chance(80) ? 1 : 2 + random.below(2)
  const operations = Array.from({ length: count }, (_, index) => {
    fieldsLeft = MAX_FIELDS
    const scope = emptyScope()
    const text = selectionSet(query, MAX_DEPTH, null, scope, `operation ${index}`)
    const name = count > 1 || chance(50) ? pick(['Home', 'query', 'Q', 'on']) + index : ''
    return { name, text, scope }
  })

  const byName = new Map(fragments.map((fragment) => [fragment.name, fragment.scope]))
  const used = new Set<string>()
  if (operations.some(({ scope }) => expandedFields(scope, byName) > MAX_EXPANDED_FIELDS)) return null
  const texts = operations.map(({ name, text, scope }) => {
    const reached = reachedFragments(scope, byName)
    const names = new Set(scope.variables)
    for (const fragment of reached) {
      used.add(fragment)
      for (const variable of byName.get(fragment)?.variables ?? []) names.add(variable)
    }
    const isShort = name === '' && names.size === 0 && chance(70)
    return isShort ? text : `query ${name}${variables.define(names)} ${text}`
  })
  const definitions = [...texts, ...fragments.filter(({ name }) => used.has(name)).map(({ text }) => text)]
  const names = operations.map(({ name }) => name).filter((name) => name !== '')
  const isNamed = names.length > 0 && (count > 1 ? !chance(3) : chance(50))
  return {
    document: random.sample(definitions, definitions.length).join('\n'),
    operationName: isNamed ? (chance(2) ? 'Nobody' : pick(names)) : undefined,
    variables: variables.given(),
    isBroken: false,
  }
}
