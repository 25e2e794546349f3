// The plan of an operation: its fields as the specification collects them, their resolvers, and how their values are completed.
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
  /** `{"name":` or `,"name":`, as it is written. */
  readonly opening: string
  /** Position among the fields of its selection. */
  readonly order: number
  readonly nodes: readonly FieldNode[]
  readonly isNullable: boolean
  /** Text that needs no resolver: `__typename`. */
  readonly constant: string | null
  /** Index of the member of the stored document that it is, in the `members` of its selection; -1 for other fields. */
  readonly memberSlot: number
  readonly resolve: (source: unknown, run: Run) => unknown
  /** A scalar or an enum, and no list: nothing within it has a path of its own. */
  readonly isLeaf: boolean
  /** Whether the field has a selection set: then its objects count their own text against the budget. */
  readonly isComposite: boolean
  readonly complete: Complete
}

export interface SelectionPlan {
  readonly fields: readonly FieldPlan[]
  /** How many of the fields have a resolver to call: they are neither members nor constants. */
  readonly resolvedCount: number
  /** Length of all keys, commas and braces. */
  readonly frameLength: number
  /** The members of the stored document that are selected; null when none is. */
  readonly members: SelectedMembers | null
}

export interface OperationPlan {
  readonly isMutation: boolean
  /** Throws a `GraphQLError` where the fields of the root cannot be collected. */
  readonly selection: () => SelectionPlan
}

export interface PlanBuilder {
  readonly schema: GraphQLSchema
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** Only those that conditions (`@skip`, `@include`) use. */
  readonly variables: VariableValues
  /** The next free slot for argument values. */
  readonly nextSlot: () => number
  /** Told each time that the plan has grown by a selection: how many fields it has, and the length of their keys. */
  readonly onPlanned: (fieldCount: number, keysLength: number) => void
  readonly completeOf: (type: GraphQLOutputType, nodes: readonly FieldNode[], builder: PlanBuilder) => Complete
  readonly membersOf: MembersOf
}

/**
 * A plan for all requests in which the conditions come out the same: `variables` are what `conditionValues` answers. The plan of a
 * selection is made when it is first executed.
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

/** The plan of a selection, made at the first call. Where a condition is null, every call throws the same error. */
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
    // An error takes about as much as a field.
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
      // Names of GraphQL need no escapes (specification, section 2.1.9).
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
  // All of the info that resolvers of the introspection types read. Those of this project read none.
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

/** A failure is kept for all objects of the execution: each new error would search the whole document for its location. */
function argumentValues(definition: GraphQLField<unknown, unknown>, node: FieldNode, variables: VariableValues) {
  try {
    return getArgumentValues(definition, node, variables)
  } catch (error) {
    return new Failed(error)
  }
}

/**
 * The variables that conditions use, in the operation and what it spreads: booleans all (specification, section 3.13.1). Another
 * operation of the document may have a variable of that name and of any size.
 */
export function conditionVariables(
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): readonly string[] {
  const names = new Set<string>()
  const reached = new Set<OperationDefinitionNode | FragmentDefinitionNode>([operation])
  // Also those that are added meanwhile.
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

/** Only these variables: a plan is cached, and the other variables of its first request may be a megabyte. */
export function conditionValues(names: readonly string[], { sources, coerced }: VariableValues): VariableValues {
  return { sources: pick(names, sources), coerced: pick(names, coerced) }
}

/** Without a prototype: a variable may have the name of a member of `Object.prototype`. */
function pick<T>(names: readonly string[], values: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  const kept: Record<string, T> = Object.create(null)
  for (const name of names) {
    const value = values[name]
    if (value !== undefined) kept[name] = value
  }
  return kept
}

/** The cache key of a plan: the values of these variables. Plans of one operation differ by nothing else. */
export function conditionsKey(names: readonly string[], { coerced }: VariableValues): string {
  return names.map((name) => String(coerced[name])).join()
}
