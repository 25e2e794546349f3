// Turns a value into text by its type (GraphQL specification, CompleteValue), and throws failures to the field or list
// item of the value.
import {
  defaultTypeResolver,
  type FieldNode,
  GraphQLError,
  type GraphQLInterfaceType,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLUnionType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import { rawTextOf } from '../../resolvers/documents/raw-json.ts'
import type { Path } from './collected-errors.ts'
import { completeList } from './complete-list.ts'
import { completeObject } from './complete-object.ts'
import { type Complete, lazySelection, type PlanBuilder, type SelectionPlan } from './plan/plan.ts'

export function completeOf(type: GraphQLOutputType, nodes: readonly FieldNode[], builder: PlanBuilder): Complete {
  if (isNonNullType(type)) return completeNonNull(nullableOf(type.ofType, nodes, builder), nodes)
  const complete = nullableOf(type, nodes, builder)
  return (run, value, path) => {
    if (value instanceof Error) throw value
    return value == null ? 'null' : complete(run, value, path)
  }
}

function completeNonNull(complete: Complete, nodes: readonly FieldNode[]): Complete {
  return (run, value, path) => {
    if (value instanceof Error) throw value
    if (value == null) throw new Error(`Cannot return null for non-nullable field ${nodes[0]?.name.value}.`)
    return complete(run, value, path)
  }
}

/** The completion of values that are not null. */
function nullableOf(type: GraphQLOutputType, nodes: readonly FieldNode[], builder: PlanBuilder): Complete {
  if (isListType(type)) {
    const isItemNullable = !isNonNullType(type.ofType)
    return completeList(completeOf(type.ofType, nodes, builder), isItemNullable, nodes)
  }
  if (isLeafType(type)) return completeLeaf(type)
  if (isObjectType(type)) return completeObjectType(type, nodes, builder)
  if (isNonNullType(type)) throw new Error('a type cannot be non-null twice')
  return completeAbstract(type, nodes, builder)
}

function completeLeaf(type: GraphQLLeafType): Complete {
  return (run, value) => {
    const text = rawTextOf(value)
    if (text !== null) {
      // The object charges strings. For bytes and streams only the length is charged here: bytes in memory were charged
      // when read.
      if (typeof text !== 'string') run.context.budget.addStream(text.byteLength)
      return text
    }
    const coerced: unknown = type.coerceOutputValue(value)
    if (coerced == null) throw new Error(`${type.name} could not serialize a value`)
    return JSON.stringify(coerced)
  }
}

function completeObjectType(type: GraphQLObjectType, nodes: readonly FieldNode[], builder: PlanBuilder): Complete {
  const selection = lazySelection(builder, type, selectionSetsOf(nodes))
  return (run, value, path) => completeObject(selection(), run, value, path)
}

function completeAbstract(
  type: GraphQLInterfaceType | GraphQLUnionType,
  nodes: readonly FieldNode[],
  builder: PlanBuilder,
): Complete {
  const { schema } = builder
  const selections = new Map<string | undefined, () => SelectionPlan>()
  const info = { schema, returnType: type } as GraphQLResolveInfo

  function selectionFor(name: string | undefined): () => SelectionPlan {
    const known = selections.get(name)
    if (known) return known
    const runtimeType = schema.getType(`${name}`)
    if (!isObjectType(runtimeType) || !schema.isSubType(type, runtimeType))
      throw new GraphQLError(`Abstract type "${type.name}" must resolve to one of its types.`)
    const selection = lazySelection(builder, runtimeType, selectionSetsOf(nodes))
    selections.set(name, selection)
    return selection
  }

  return (run, value, path: Path | null) => {
    const name = (type.resolveType ?? defaultTypeResolver)(value, run.context, info, type)
    if (name instanceof Promise) return name.then((found) => completeObject(selectionFor(found)(), run, value, path))
    return completeObject(selectionFor(name)(), run, value, path)
  }
}

function selectionSetsOf(nodes: readonly FieldNode[]) {
  return nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
}
