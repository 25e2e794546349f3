// Loads all documents of a workspace as uniform items, and searches and sorts them.
import { sizeText } from '../answer/answer.ts'
import { query } from '../answer/graphql-query.ts'
import { momentOf } from '../design/moment.ts'
import { searchedText } from '../searched-text.ts'
import type { Session } from '../sign-in/session/session.ts'
import { compareNames } from './natural-order.ts'
import { shownName } from './shown-name.ts'

export interface Item {
  /** The reference of a project; for other documents the `documentId`, or the global id if there is none. */
  readonly key: string
  /** The cursor of the preceding item in the list; null for the first item. */
  readonly after: string | null
  readonly name: string
  readonly description: string
  readonly framework: string
  readonly version: string
  readonly changedAt: string
  readonly detail: string
  /** Creation time of the newest export; empty without one. */
  readonly exportedAt: string
  readonly hasExport: boolean
  /** Digest of the newest export; empty without one. */
  readonly digest: string
  readonly fileCount: number
  readonly searched: string
}

export const KINDS = ['projects', 'templates', 'libraries'] as const
export type Kind = (typeof KINDS)[number]

export const KIND_LABELS: Readonly<Record<Kind, string>> = {
  projects: 'Projects',
  templates: 'Templates',
  libraries: 'UI libraries',
}

export type Workspace = Readonly<Record<Kind, readonly Item[]>>

export const SORTS = {
  changed: { label: 'Last changed', compare: (a: Item, b: Item) => newestFirst(a.changedAt, b.changedAt) },
  exported: { label: 'Last exported', compare: (a: Item, b: Item) => newestFirst(a.exportedAt, b.exportedAt) },
  name: { label: 'Name', compare: (a: Item, b: Item) => compareNames(a.name, b.name) },
  stored: { label: 'Stored order', compare: () => 0 },
} as const
export type Sort = keyof typeof SORTS

/** The sort orders of a list. Only projects have exports. */
export function sortsOf(kind: Kind): readonly Sort[] {
  const all: readonly Sort[] = ['changed', 'exported', 'name', 'stored']
  return all.filter((sort) => sort !== 'exported' || kind === 'projects')
}

/** Compares two dates, newest first; missing and invalid dates come last. */
function newestFirst(one: string, other: string): number {
  return (momentOf(other) || 0) - (momentOf(one) || 0)
}

const DOCUMENT = 'id documentId name description framework tags version updatedAt cursor'
const QUERY = `{ me {
  projects { ${DOCUMENT} ref latestExport { digest createdAt elementCount byteLength } }
  templates { ${DOCUMENT} kind }
  uiLibraries { ${DOCUMENT} kind }
} }`

interface Listed {
  /** The global id of the document. */
  readonly id: string
  readonly documentId: string | null
  readonly name: string | null
  readonly description: string | null
  readonly framework: string | null
  readonly tags: readonly string[] | null
  readonly version: string | null
  readonly updatedAt: string | null
  readonly cursor: string
}

interface ListedProject extends Listed {
  readonly ref: string
  readonly latestExport: {
    readonly digest: string
    readonly createdAt: string
    readonly elementCount: number
    readonly byteLength: number
  } | null
}

type ExportSize = Pick<NonNullable<ListedProject['latestExport']>, 'elementCount' | 'byteLength'>

interface ListedCustom extends Listed {
  readonly kind: string | null
}

interface Answer {
  readonly me: {
    readonly projects: readonly ListedProject[]
    readonly templates: readonly ListedCustom[]
    readonly uiLibraries: readonly ListedCustom[]
  } | null
}

/** Resolves to null when no workspace is stored for the user. */
export async function loadWorkspace(session: Session): Promise<Workspace | null> {
  const { me } = await query<Answer>(session, QUERY)
  return (
    me && {
      projects: me.projects.map((project, index) =>
        toItem(project, {
          key: project.ref,
          after: me.projects[index - 1]?.cursor ?? null,
          detail: exportDetail(project),
          changedAt: latest(project.updatedAt, project.latestExport?.createdAt),
          exportedAt: project.latestExport?.createdAt ?? '',
          hasExport: project.latestExport !== null,
          digest: project.latestExport?.digest ?? '',
          fileCount: project.latestExport?.elementCount ?? 0,
        }),
      ),
      templates: customItems(me.templates),
      libraries: customItems(me.uiLibraries),
    }
  )
}

function customItems(listed: readonly ListedCustom[]): readonly Item[] {
  return listed.map((item, index) =>
    toItem(item, {
      key: item.documentId ?? item.id,
      after: listed[index - 1]?.cursor ?? null,
      detail: item.kind ?? '',
      changedAt: item.updatedAt ?? '',
      exportedAt: '',
      hasExport: false,
      digest: '',
      fileCount: 0,
    }),
  )
}

function exportDetail({ latestExport }: ListedProject): string {
  return latestExport ? exportSize(latestExport) : 'no export yet'
}

export function exportSize({ elementCount, byteLength }: ExportSize): string {
  return `${elementCount.toLocaleString()} ${elementCount === 1 ? 'file' : 'files'}, ${sizeText(byteLength)}`
}

function latest(one: string | null, other: string | undefined): string {
  return [one ?? '', other ?? ''].toSorted(newestFirst)[0] ?? ''
}

function toItem(
  listed: Listed,
  rest: Pick<Item, 'key' | 'after' | 'detail' | 'changedAt' | 'exportedAt' | 'hasExport' | 'digest' | 'fileCount'>,
): Item {
  const { name, description, framework, tags, version, documentId } = listed
  return {
    ...rest,
    name: shownName(name, rest.key),
    description: description ?? '',
    framework: framework ?? '',
    version: version ?? '',
    searched: searchedText([name, documentId, rest.key, description, framework, ...(tags ?? [])].join(' ')),
  }
}

export interface Wanted {
  readonly search: string
  readonly sort: Sort
  /** Empty to match any framework. */
  readonly framework: string
  readonly isExported: boolean
}

/** Filters and sorts the items. An item matches if it contains every word of the search. */
export function arranged(items: readonly Item[], { search, sort, framework, isExported }: Wanted): readonly Item[] {
  const words = searchedText(search).split(/\s+/)
  return items
    .filter(
      (item) =>
        words.every((word) => item.searched.includes(word)) &&
        (framework === '' || item.framework === framework) &&
        (!isExported || item.hasExport),
    )
    .sort(SORTS[sort].compare)
}
