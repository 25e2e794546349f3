// Template and UiLibrary: the resolvers of the document's fields, the same for both.

import { data, documentId, documentNodeId, text, textList } from './documents/document-fields.ts'
import type { TemplateResolvers, UiLibraryResolvers } from './generated.ts'
import { positionCursor } from './pagination/cursors.ts'

const customItem = {
  id: documentNodeId,
  data,
  cursor: positionCursor,
  documentId,
  name: text('name'),
  description: text('description'),
  framework: text('framework'),
  kind: text('kind'),
  type: text('type'),
  tags: textList('tags'),
  version: text('version'),
  createdAt: text('createdAt'),
  updatedAt: text('updatedAt'),
}

export const Template = customItem satisfies TemplateResolvers

export const UiLibrary = customItem satisfies UiLibraryResolvers
