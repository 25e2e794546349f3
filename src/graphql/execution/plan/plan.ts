// The plan of an operation: its fields as the specification collects them, their resolvers, and functions that complete
// their values.
import {
  defaultFieldResolver,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  getNullableType,
  isLeafType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type VariableValues,
  visit,
} from 'graphql'
import { type MemberField, memberOf } from '../../../resolvers/documents/member-field.ts'
import type { PreparedOperation } from '../../document/prepared-document.ts'
import type { Path } from '../collected-errors.ts'
import type { Run } from '../run.ts'
import { Failed } from '../settle.ts'
import type { Text } from '../text.ts'
import { collectFields } from './collect-fields.ts'
import { type MembersOf, type SelectedMembers, selectMembers } from './type-members.ts'

export type Complete = (run: Run, value: unknown, path: Path | null) => Text | Promise<Text>

export interface FieldPlan {
  readonly responseName: string
  /** The text before the value: `{"name":` for the first field, `,"name":` for the others. */
  readonly opening: string
  /** Position among the fields of its selection. */
  readonly order: number
  readonly nodes: readonly FieldNode[]
  readonly isNullable: boolean
  /** Text that needs no resolver: `__typename`. */
  readonly constant: string | null
  /**
   * Index in the `members` of the selection, for a field that is a member of the stored document; -1 for other fields.
   */
  readonly memberSlot: number
  readonly resolve: (source: unknown, run: Run) => unknown
  /** Whether the type is a scalar or an enum and not a list: then nothing within the value has a path of its own. */
  readonly isLeaf: boolean
  /** Whether the field has a selection set: then its objects charge their own text to the budget. */
  readonly isComposite: boolean
  readonly complete: Complete
}

export interface SelectionPlan {
  readonly fields: readonly FieldPlan[]
  /** Number of fields whose resolver is called: those that are neither members nor constants. */
  readonly resolvedCount: number
  /** Length of all keys, commas and braces. */
  readonly frameLength: number
  /** The selected members of the stored document; null if none is selected. */
  readonly members: SelectedMembers | null
}

export interface OperationPlan {
  readonly isMutation: boolean
  /** Throws a `GraphQLError` if the root fields cannot be collected. */
  readonly selection: () => SelectionPlan
}

export interface PlanBuilder {
  readonly schema: GraphQLSchema
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** Only the variables that conditions (`@skip`, `@include`) use. */
  readonly variables: VariableValues
  /** The next free slot for argument values. */
  readonly nextSlot: () => number
  /** Called when a selection is added to the plan, with its number of fields and the length of their keys. */
  readonly onPlanned: (fieldCount: number, keysLength: number) => void
  readonly completeOf: (type: GraphQLOutputType, nodes: readonly FieldNode[], builder: PlanBuilder) => Complete
  readonly membersOf: MembersOf
}

/**
 * A plan for all requests whose conditions have the same values. `variables` is the result of `conditionValues`. The
 * plan of a nested selection is made when it is first executed.
 */
export function createPlan(
  schema: GraphQLSchema,
  { definition, fragments }: PreparedOperation,
  variables: VariableValues,
  parts: Pick<PlanBuilder, 'completeOf' | 'membersOf' | 'onPlanned'>,
): OperationPlan {
  const root = schema.getRootType(definition.operation)
  if (!root) throw new Error(`the schema has no ${definition.operation}`)
  let slots = 0
  const builder: PlanBuilder = { ...parts, schema, fragments, variables, nextSlot: () => slots++ }
  const selection = lazySelection(builder, root, [definition.selectionSet])
  return { isMutation: definition.operation === 'mutation', selection }
}

/** The plan of a selection, made at the first call. If a condition is null, every call throws the same error. */
export function lazySelection(
  builder: PlanBuilder,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): () => SelectionPlan {
  let made: SelectionPlan | Failed | null = null
  return () => {
    made ??= selectionOrFailure(builder, type, sets)
    if (made instanceof Failed) throw made.failure
    return made
  }
}

function selectionOrFailure(
  builder: PlanBuilder,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): SelectionPlan | Failed {
  try {
    const selection = planSelection(builder, type, sets)
    builder.onPlanned(selection.fields.length, selection.frameLength)
    return selection
  } catch (error) {
    // An error takes about as much memory as a field.
    builder.onPlanned(1, 0)
    return new Failed(error)
  }
}

function planSelection(
  builder: PlanBuilder,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): SelectionPlan {
  const fields: FieldPlan[] = []
  const members: MemberField[] = []
  for (const [responseName, nodes] of collectFields(builder, type, sets)) {
    const [node] = nodes
    const definition = node && builder.schema.getField(type, node.name.value)
    if (!definition) continue
    const member = memberOf(definition.resolve)
    if (member && !members.includes(member)) members.push(member)
    fields.push({
      responseName,
      // GraphQL names need no JSON escapes (specification, section 2.1.9).
      opening: `${fields.length === 0 ? '{' : ','}"${responseName}":`,
      order: fields.length,
      nodes,
      isNullable: !isNonNullType(definition.type),
      constant: node.name.value === '__typename' ? `"${type.name}"` : null,
      memberSlot: member ? members.indexOf(member) : -1,
      isLeaf: isLeafType(getNullableType(definition.type)),
      isComposite: node.selectionSet !== undefined,
      resolve: createResolve(builder, type, definition, node),
      complete: builder.completeOf(definition.type, nodes, builder),
    })
  }
  return {
    fields,
    resolvedCount: fields.filter(({ memberSlot, constant }) => memberSlot === -1 && constant === null).length,
    frameLength: fields.reduce((sum, { opening }) => sum + opening.length, 1),
    members: selectMembers(builder.membersOf(type), members),
  }
}

function createResolve(
  { schema, nextSlot }: PlanBuilder,
  parentType: GraphQLObjectType,
  definition: GraphQLField<unknown, unknown>,
  node: FieldNode,
): FieldPlan['resolve'] {
  const resolve = definition.resolve ?? defaultFieldResolver
  // The only parts of `info` that the introspection resolvers read. The resolvers of this project read none.
  const info = { schema, parentType, fieldName: definition.name, returnType: definition.type } as GraphQLResolveInfo
  if (definition.args.length === 0) {
    const none = Object.freeze(Object.create(null))
    return (source, run) => resolve(source, none, run.context, info)
  }
  const slot = nextSlot()
  return (source, run) => {
    run.argumentValues[slot] ??= argumentValues(definition, node, run.variables)
    const values = run.argumentValues[slot]
    if (values instanceof Failed) throw values.failure
    return resolve(source, values as Record<string, unknown>, run.context, info)
  }
}

/**
 * Returns a failure to be reused for all objects of the execution: each new error would scan the whole document for its
 * location.
 */
function argumentValues(definition: GraphQLField<unknown, unknown>, node: FieldNode, variables: VariableValues) {
  try {
    return getArgumentValues(definition, node, variables)
  } catch (error) {
    return new Failed(error)
  }
}

/**
 * Names of the variables that conditions use, in the operation and in the fragments that it reaches. All of them are
 * booleans (specification, section 3.13.1). Other operations are not searched: they may use the same name for a
 * variable of any type and size.
 */
export function conditionVariables(
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): readonly string[] {
  const names = new Set<string>()
  const reached = new Set<OperationDefinitionNode | FragmentDefinitionNode>([operation])
  // The loop also visits the fragments that it adds to the set.
  for (const definition of reached) {
    visit(definition, {
      FragmentSpread({ name }) {
        const fragment = fragments.get(name.value)
        if (fragment) reached.add(fragment)
      },
      Directive(directive) {
        for (const { value } of directive.arguments ?? []) if (value.kind === Kind.VARIABLE) names.add(value.name.value)
      },
    })
  }
  return [...names]
}

/** Picks only these variables: a plan is cached, and the other variables of its first request may take a megabyte. */
export function conditionValues(names: readonly string[], { sources, coerced }: VariableValues): VariableValues {
  return { sources: pick(names, sources), coerced: pick(names, coerced) }
}

/** The result has no prototype, because a variable may have the name of a member of `Object.prototype`. */
function pick<T>(names: readonly string[], values: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  const kept: Record<string, T> = Object.create(null)
  for (const name of names) {
    const value = values[name]
    if (value !== undefined) kept[name] = value
  }
  return kept
}

/**
 * The cache key of a plan within its operation: the values of these variables. Plans of one operation differ in nothing
 * else.
 */
export function conditionsKey(names: readonly string[], { coerced }: VariableValues): string {
  return names.map((name) => String(coerced[name])).join()
}
