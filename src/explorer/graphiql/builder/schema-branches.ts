// Presents a schema as a tree of fields, and of the possible types of interfaces and unions.
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
  /** The type as the schema writes it; empty for a `type` branch. */
  readonly type: string
  readonly description: string
  readonly arguments: readonly GraphQLArgument[]
  /** The subfield that is selected first; null for a type without subfields. */
  readonly leaf: string | null
  /** Created lazily when the branch is expanded, because types refer to each other in cycles. */
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

/** Chooses the `id` field, or else the first leaf without required arguments, or else `__typename`. */
function leafOf(type: unknown): string {
  const fields = isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : []
  const leaves = fields.filter((field) => isLeafType(getNamedType(field.type)) && !field.args.some(isRequiredArgument))
  return (leaves.find(({ name }) => name === 'id') ?? leaves[0])?.name ?? '__typename'
}
