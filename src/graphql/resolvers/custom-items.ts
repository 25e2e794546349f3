// Template and UiLibrary: the document, with the same typed fields for both.
import type { TemplateResolvers, UiLibraryResolvers } from '../generated.ts'
import { positionCursor } from '../paging.ts'
import { data, id, text, textList } from './document-fields.ts'

const customItem = {
  data,
  id,
  cursor: positionCursor,
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
