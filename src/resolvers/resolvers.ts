// All resolvers by type. GraphQL executes them, and the REST routes call them.
import type { StoredDocument, StoredExport } from '../store/contract.ts'
import { DOCUMENT_FIELDS, text } from './documents/document-fields.ts'
import { Export, ExportElement } from './export.ts'
import type { Resolvers } from './generated.ts'
import { Node } from './identity/node.ts'
import type { ExportedElement } from './identity/node-row.ts'
import { connectionOf, edgeOf, PageInfo } from './pagination/connection-fields.ts'
import { Project } from './project.ts'
import { Query } from './query.ts'
import { AccessToken, Mutation, Tokens } from './sign-in/mutation.ts'
import { Session } from './sign-in/session.ts'
import { User } from './user.ts'

const customItem = { ...DOCUMENT_FIELDS, kind: text('kind'), type: text('type') }

export const resolvers = {
  Node,
  Query,
  Mutation,
  Tokens,
  AccessToken,
  User,
  Session,
  Project,
  Template: customItem,
  UiLibrary: customItem,
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
  ExportElementConnection: connectionOf<ExportedElement>(),
  ExportElementEdge: edgeOf<ExportedElement>(),
  // `JSON` has no resolver: a scalar without one passes values through. Its description is in the schema.
} satisfies Omit<Resolvers, 'JSON'>
