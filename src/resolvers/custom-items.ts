// Template and UiLibrary: the resolvers of the document's fields, the same for both.
import { DOCUMENT_FIELDS, text } from './documents/document-fields.ts'
import type { TemplateResolvers, UiLibraryResolvers } from './generated.ts'

const customItem = { ...DOCUMENT_FIELDS, kind: text('kind'), type: text('type') }

export const Template = customItem satisfies TemplateResolvers

export const UiLibrary = customItem satisfies UiLibraryResolvers
