// A schema as a tree to choose from: fields, and the types that an interface or a union may turn out to be.
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  type OperationTypeNode,
} from 'graphql'

export interface Branch {
  readonly kind: 'field' | 'type'
  readonly name: string
  /** As the schema writes it; empty for a type. */
  readonly type: string
  readonly description: string
  readonly arguments: readonly GraphQLArgument[]
  /** What is selected in it to begin with; null where nothing can be. */
  readonly leaf: string | null
  /** Made when it is opened: types refer to each other without an end. */
  readonly branches: () => readonly Branch[]
}

export function rootBranches(schema: GraphQLSchema, operationType: string): readonly Branch[] {
  return branchesOf(schema, schema.getRootType(operationType as OperationTypeNode))
}

function branchesOf(schema: GraphQLSchema, type: unknown): readonly Branch[] {
  const fields = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : []
  const types = isAbstractType(type) ? schema.getPossibleTypes(type) : []
  return [
    ...fields.map((field) => fieldBranch(schema, field)),
    ...types.map((one): Branch => {
      const description = one.description ?? ''
      const leaf = leafOf(one)
      return {
        kind: 'type',
        name: one.name,
        type: '',
        description,
        arguments: [],
        leaf,
        branches: () => branchesOf(schema, one),
      }
    }),
  ]
}

function fieldBranch(schema: GraphQLSchema, { name, type, description, args }: GraphQLField<unknown, unknown>): Branch {
  const inner = getNamedType(type)
  return {
    kind: 'field',
    name,
    type: String(type),
    description: description ?? '',
    arguments: args,
    leaf: isCompositeType(inner) ? leafOf(inner) : null,
    branches: () => branchesOf(schema, inner),
  }
}

/** A field that says which object it is, or the first that needs nothing. */
function leafOf(type: unknown): string {
  const fields = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : []
  const leaves = fields.filter((field) => isLeafType(getNamedType(field.type)) && !field.args.some(isRequiredArgument))
  return (leaves.find(({ name }) => name === 'id') ?? leaves[0])?.name ?? '__typename'
}
