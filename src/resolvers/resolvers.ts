// All resolvers, by type: what GraphQL executes and REST rows call.
import { GraphQLScalarType } from 'graphql'
import type { StoredDocument, StoredElement, StoredExport } from '../store/contract.ts'
import { Template, UiLibrary } from './custom-items.ts'
import { Export, ExportElement } from './export.ts'
import type { Resolvers } from './generated.ts'
import { AccessToken, Mutation, Tokens } from './mutation.ts'
import { connectionOf, edgeOf, PageInfo } from './pagination/connection-fields.ts'
import { Project } from './project.ts'
import { Query } from './query.ts'
import { User } from './user.ts'

export const resolvers = {
  JSON: new GraphQLScalarType({ name: 'JSON' }),
  Query,
  Mutation,
  Tokens,
  AccessToken,
  User,
  Project,
  Template,
  UiLibrary,
  Export,
  ExportElement,
  PageInfo,
  ProjectConnection: connectionOf<StoredDocument>(),
  ProjectEdge: edgeOf<StoredDocument>(),
  TemplateConnection: connectionOf<StoredDocument>(),
  TemplateEdge: edgeOf<StoredDocument>(),
  UiLibraryConnection: connectionOf<StoredDocument>(),
  UiLibraryEdge: edgeOf<StoredDocument>(),
  ExportConnection: connectionOf<StoredExport>(),
  ExportEdge: edgeOf<StoredExport>(),
  ExportElementConnection: connectionOf<StoredElement>(),
  ExportElementEdge: edgeOf<StoredElement>(),
} satisfies Resolvers
