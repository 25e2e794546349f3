// What each field answers according to the schema's descriptions, over plain objects:
// written independently of the gateway's resolvers.
import type { GraphQLFieldResolver } from 'graphql'
import {
  type ModelElement,
  type ModelExport,
  type ModelItem,
  type ModelObject,
  type ModelProject,
  type ModelSession,
  type ModelUser,
  objectsOf,
} from './model.ts'

/** A failure with a code that clients see. */
export class ModelFailure extends Error {
  readonly code: string

  constructor(code: string) {
    super(code)
    this.code = code
  }
}

/** Text that is in the answer unchanged. */
export class RawText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export interface ModelContext {
  readonly viewer: ModelUser | null
  readonly hasGlobalIds: boolean
}

export interface PageArguments {
  readonly first?: number | null
  readonly after?: string | null
  readonly last?: number | null
  readonly before?: string | null
}

interface Page {
  readonly items: readonly Listed[]
  readonly total: number
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
}

type Listed = Exclude<ModelObject, ModelUser>
type Arguments = PageArguments & { readonly ref: string; readonly id: string; readonly ids: readonly string[] }
type Resolve<T> = (parent: T, args: Arguments, context: ModelContext) => unknown

/** The number of ids that `nodes` accepts. */
const MAX_NODES = 100

/** Relay's algorithm (GraphQL Cursor Connections, section 4.4), for connections and for plain lists. */
function pageOf(all: readonly Listed[], { first, after, last, before }: PageArguments): Page {
  const place = (cursor: string | null | undefined, otherwise: number) => {
    // An empty text is no cursor.
    if (!cursor) return otherwise
    const index = all.findIndex(({ learned }) => learned.cursor === cursor)
    if (index === -1) throw new ModelFailure('INVALID_ARGUMENT')
    return index
  }
  if ((first ?? 0) < 0 || (last ?? 0) < 0) throw new ModelFailure('INVALID_ARGUMENT')
  const begin = place(after, -1) + 1
  const end = Math.max(begin, place(before, all.length))
  const between = all.slice(begin, end)
  // `first` cuts, then `last` cuts what is left.
  const head = between.slice(0, first ?? undefined)
  return {
    items: last == null ? head : head.slice(Math.max(0, head.length - last)),
    total: all.length,
    // A cursor names an item of the list, so there is something beyond it.
    hasNextPage: first == null ? Boolean(before) : between.length > first,
    hasPreviousPage: last == null ? Boolean(after) : between.length > last,
  }
}

const listOf =
  <T>(all: (parent: T) => readonly Listed[]): Resolve<T> =>
  (parent, args) =>
    pageOf(all(parent), args).items
const connectionOf =
  <T>(all: (parent: T) => readonly Listed[]): Resolve<T> =>
  (parent, args) =>
    pageOf(all(parent), args)

interface Fields {
  readonly values: Readonly<Record<string, unknown>>
  /** The digits of `id` as they are written. */
  readonly idSource: string
}

type Reviver = (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown

/** Members of the outermost object; of a duplicate name the last member counts, as in JSON.parse. */
function fieldsOf(text: string): Fields {
  const sources = new Map<unknown, string>()
  const reviver: Reviver = function (key, value, { source }) {
    if (key === 'id' && source !== undefined) sources.set(this, source)
    return value
  }
  const value: unknown = JSON.parse(text, reviver as (this: unknown, key: string, value: unknown) => unknown)
  const isObject = typeof value === 'object' && value !== null
  return { values: isObject ? (value as Record<string, unknown>) : {}, idSource: sources.get(value) ?? '' }
}

type Document = ModelProject | ModelItem | ModelElement

const text =
  (name: string): Resolve<Document> =>
  (document) => {
    const { values } = fieldsOf(document.text)
    return typeof values[name] === 'string' ? values[name] : null
  }

const tags: Resolve<Document> = (document) => {
  const value = fieldsOf(document.text).values.tags
  return Array.isArray(value) && value.every((tag) => typeof tag === 'string') ? value : null
}

const documentId: Resolve<Document> = (document) => {
  const { values, idSource } = fieldsOf(document.text)
  if (typeof values.id === 'string') return values.id
  return typeof values.id === 'number' && /^-?[0-9]+$/.test(idSource) ? idSource : null
}

const globalId: Resolve<ModelObject> = ({ learned }) => learned.id
const data: Resolve<{ readonly text: string }> = (document) => new RawText(document.text)
const cursor: Resolve<Listed> = ({ learned }) => learned.cursor

/** The id inside the document is called `documentId` if `id` is global. */
const id: Resolve<Document> = (document, args, context) =>
  context.hasGlobalIds ? document.learned.id : documentId(document, args, context)

function texts(...names: readonly string[]): Readonly<Record<string, Resolve<Document>>> {
  return Object.fromEntries(names.map((name) => [name, text(name)]))
}

function told(...names: readonly string[]): Readonly<Record<string, Resolve<ModelSession>>> {
  return Object.fromEntries(names.map((name) => [name, (session: ModelSession) => session.told[name]]))
}

function findOwn({ viewer }: ModelContext, wanted: string): ModelObject | null {
  if (!viewer) throw new ModelFailure('UNAUTHENTICATED')
  return objectsOf(viewer).find(({ learned }) => learned.id === wanted) ?? null
}

const item = {
  id,
  documentId,
  data,
  cursor,
  tags,
  ...texts('name', 'description', 'framework', 'kind', 'type', 'version', 'createdAt', 'updatedAt'),
}

const connection = {
  nodes: ({ items }: Page) => items,
  edges: ({ items }: Page) => items,
  totalCount: ({ total }: Page) => total,
  pageInfo: (page: Page) => page,
}

/** An edge is the item itself. */
const edge = { cursor, node: (node: Listed) => node }

const RESOLVERS: Readonly<Record<string, Readonly<Record<string, Resolve<never>>>>> = {
  Query: {
    me(_root, _args, { viewer }) {
      if (!viewer) throw new ModelFailure('UNAUTHENTICATED')
      return viewer
    },
    node: (_root, args, context) => findOwn(context, args.id),
    nodes(_root, { ids }, context) {
      if (!context.viewer) throw new ModelFailure('UNAUTHENTICATED')
      if (ids.length > MAX_NODES) throw new ModelFailure('INVALID_ARGUMENT')
      return ids.map((wanted) => findOwn(context, wanted))
    },
  } satisfies Record<string, Resolve<unknown>>,
  User: {
    id: globalId,
    email: ({ email }) => email,
    projects: listOf(({ projects }) => projects),
    projectsConnection: connectionOf(({ projects }) => projects),
    templates: listOf(({ templates }) => templates),
    templatesConnection: connectionOf(({ templates }) => templates),
    uiLibraries: listOf(({ uiLibraries }) => uiLibraries),
    uiLibrariesConnection: connectionOf(({ uiLibraries }) => uiLibraries),
    project: ({ projects }, { ref }) => projects.find((project) => project.ref === ref) ?? null,
    sessions: listOf(({ sessions }) => sessions),
    latestExport({ projects }, { ref }) {
      const project = projects.find((one) => one.ref === ref)
      if (!project) throw new ModelFailure('NO_PROJECT')
      if (!project.exports[0]) throw new ModelFailure('NO_EXPORT')
      return project.exports[0]
    },
  } satisfies Record<string, Resolve<ModelUser>>,
  Session: { id: globalId, ...told('createdAt', 'lastUsedAt', 'expiresAt', 'current', 'userAgent', 'network') },
  Project: {
    ...item,
    ref: ({ ref }) => ref,
    latestExport: ({ exports }) => exports[0] ?? null,
    exports: listOf(({ exports }) => exports),
    exportsConnection: connectionOf(({ exports }) => exports),
  } satisfies Record<string, Resolve<ModelProject>>,
  Template: item,
  UiLibrary: item,
  Export: {
    id: globalId,
    ref: ({ ref }) => ref,
    createdAt: ({ createdAt }) => createdAt,
    digest: ({ digest }) => digest,
    byteLength: ({ text: whole }) => Buffer.byteLength(whole),
    elementCount: ({ elements }) => elements.length,
    cursor,
    data,
    elements: listOf(({ elements }) => elements),
    elementsConnection: connectionOf(({ elements }) => elements),
  } satisfies Record<string, Resolve<ModelExport>>,
  ExportElement: { id, documentId, data, cursor, ...texts('name', 'kind', 'type', 'path', 'content') },
  PageInfo: {
    hasNextPage: (page) => page.hasNextPage,
    hasPreviousPage: (page) => page.hasPreviousPage,
    startCursor: ({ items }) => items[0]?.learned.cursor ?? null,
    endCursor: ({ items }) => items.at(-1)?.learned.cursor ?? null,
  } satisfies Record<string, Resolve<Page>>,
  ...Object.fromEntries(
    ['Project', 'Template', 'UiLibrary', 'Export', 'ExportElement'].flatMap((name) => [
      [`${name}Connection`, connection],
      [`${name}Edge`, edge],
    ]),
  ),
}

/** Whether the model says what this field answers. */
export function isModelled(type: string, field: string): boolean {
  return RESOLVERS[type]?.[field] !== undefined
}

export const resolveField: GraphQLFieldResolver<unknown, ModelContext> = (parent, args, context, info) => {
  const resolve = RESOLVERS[info.parentType.name]?.[info.fieldName]
  // Introspection resolves its own fields.
  if (!resolve) throw new Error(`the model has no ${info.parentType.name}.${info.fieldName}`)
  return (resolve as Resolve<unknown>)(parent, args as Arguments, context)
}

/** The list of this object that the field is a page of; null for other fields. */
export function listBehind(parent: object, field: string): readonly Listed[] | null {
  const name = field.replace(/Connection$/, '')
  const list: unknown = name in parent ? (parent as Readonly<Record<string, unknown>>)[name] : null
  return Array.isArray(list) ? (list as readonly Listed[]) : null
}
