// The GraphQL options of `serve`: limits of documents and answers, and who may see the schema, suggestions and traces.
import { AUDIENCES, type GraphQLOptions } from '../../graphql/endpoint/options.ts'
import { booleanOption, type Config, inGroup, integer, oneOf } from './option.ts'

/** Share of the document cache that one user may fill. */
const MAX_SHARE = 1 / 16

export const GRAPHQL_OPTIONS = inGroup('GraphQL', {
  graphqlMaxDepth: {
    flags: '--graphql-max-depth <count>',
    description: 'maximum levels of fields within fields in a GraphQL document',
    default: '20',
    schema: integer(1, 100),
  },
  graphqlMaxAliases: {
    flags: '--graphql-max-aliases <count>',
    description: 'maximum number of aliased fields in a GraphQL document',
    default: '100',
    schema: integer(0, 2_000),
  },
  graphqlMaxRootFields: {
    flags: '--graphql-max-root-fields <count>',
    description: 'maximum number of fields at the root of a GraphQL operation',
    default: '50',
    schema: integer(1, 2_000),
  },
  graphqlMaxDirectives: {
    flags: '--graphql-max-directives <count>',
    description: 'maximum number of directives in a GraphQL document',
    default: '200',
    schema: integer(0, 2_000),
  },
  graphqlMaxFields: {
    flags: '--graphql-max-fields <count>',
    description: 'maximum number of fields of a GraphQL operation, with fragments expanded',
    default: '1000',
    schema: integer(1, 100_000),
  },
  graphqlMaxObjects: {
    flags: '--graphql-max-objects <count>',
    description: 'maximum number of objects in one GraphQL answer',
    default: '75000',
    schema: integer(1, 100_000_000),
  },
  graphqlMaxReadBytes: {
    flags: '--graphql-max-read-bytes <bytes>',
    description:
      'maximum size of the stored documents that one GraphQL request reads; streamed data of exports does not count',
    default: String(134_217_728),
    schema: integer(1_024, 1_099_511_627_776),
  },
  graphqlMaxHeldBytes: {
    flags: '--graphql-max-held-bytes <bytes>',
    description: 'maximum memory that one GraphQL request holds at a time for data that it read or produced',
    default: String(41_943_040),
    schema: integer(1_024, 1_099_511_627_776),
  },
  graphqlMaxResponseBytes: {
    flags: '--graphql-max-response-bytes <bytes>',
    description: 'maximum size of one GraphQL answer, including streamed data',
    default: String(268_435_456),
    schema: integer(1_024, 1_099_511_627_776),
  },
  graphqlDocumentBytes: {
    flags: '--graphql-document-bytes <bytes>',
    description: 'memory for the cache of GraphQL documents and their execution plans',
    default: String(33_554_432),
    schema: integer(0, 1_099_511_627_776),
  },
  introspection: {
    flags: '--introspection <who>',
    description:
      'who may read the schema over GraphQL (default: everyone with login guard local, otherwise signed-in); nobody also turns off /schema.graphql',
    schema: oneOf(...AUDIENCES).optional(),
  },
  graphqlSuggestions: {
    flags: '--graphql-suggestions <who>',
    description: 'who gets suggestions of similar names in GraphQL errors: everyone, signed-in or nobody',
    default: 'signed-in',
    schema: oneOf(...AUDIENCES),
  },
  traceHeader: {
    flags: '--trace-header',
    description:
      'tell clients that send a Gateway-Trace header how their request was answered, and how long it took (default: with login guard local)',
    schema: booleanOption.optional(),
  },
})

export function toGraphQLOptions(config: Config<typeof GRAPHQL_OPTIONS>, loginGuard: string): GraphQLOptions {
  return {
    documentLimits: {
      maxDepth: config.graphqlMaxDepth,
      maxAliases: config.graphqlMaxAliases,
      maxRootFields: config.graphqlMaxRootFields,
      maxDirectives: config.graphqlMaxDirectives,
      maxFields: config.graphqlMaxFields,
    },
    requestLimits: {
      maxReadLength: config.graphqlMaxReadBytes,
      maxHeldLength: config.graphqlMaxHeldBytes,
      maxResponseLength: config.graphqlMaxResponseBytes,
      maxObjects: config.graphqlMaxObjects,
    },
    documents: { maxBytes: config.graphqlDocumentBytes, maxShare: MAX_SHARE },
    introspection: config.introspection ?? (loginGuard === 'local' ? 'everyone' : 'signed-in'),
    suggestions: config.graphqlSuggestions,
    isTraceEnabled: config.traceHeader ?? loginGuard === 'local',
  }
}
