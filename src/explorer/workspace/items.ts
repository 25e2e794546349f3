// Everything a workspace holds, as one kind of item to search and sort.

import { sizeText } from '../answer.ts'
import { query } from '../graphql-query.ts'
import type { Session } from '../session.ts'

export interface Item {
  /** The reference of a project; the cursor of the item before in its list, for others. */
  readonly key: string
  readonly name: string
  readonly description: string
  readonly framework: string
  readonly version: string
  readonly changedAt: string
  readonly detail: string
  readonly searched: string
}

export const KINDS = ['projects', 'exports', 'templates', 'libraries'] as const
export type Kind = (typeof KINDS)[number]

export const KIND_LABELS: Readonly<Record<Kind, string>> = {
  projects: 'Projects',
  exports: 'Newest exports',
  templates: 'Templates',
  libraries: 'UI libraries',
}

export type Workspace = Readonly<Record<Kind, readonly Item[]>>

export const SORTS = {
  stored: { label: 'Stored order', compare: () => 0 },
  name: { label: 'Name', compare: (a: Item, b: Item) => a.name.localeCompare(b.name) },
  changed: { label: 'Last changed', compare: (a: Item, b: Item) => b.changedAt.localeCompare(a.changedAt) },
} as const
export type Sort = keyof typeof SORTS

export function isSort(value: string): value is Sort {
  return Object.hasOwn(SORTS, value)
}

const DOCUMENT = 'documentId name description framework tags version updatedAt cursor'
const QUERY = `{ me {
  projects { ${DOCUMENT} ref latestExport { createdAt elementCount byteLength } }
  templates { ${DOCUMENT} kind }
  uiLibraries { ${DOCUMENT} kind }
} }`

interface Listed {
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
    readonly createdAt: string
    readonly elementCount: number
    readonly byteLength: number
  } | null
}

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

/** Null when no workspace is stored for the user. */
export async function loadWorkspace(session: Session): Promise<Workspace | null> {
  const { me } = await query<Answer>(session, QUERY)
  return (
    me && {
      projects: me.projects.map((project) => toItem(project, project.ref, exportDetail(project))),
      exports: me.projects.flatMap((project) =>
        project.latestExport
          ? [{ ...toItem(project, project.ref, exportDetail(project)), changedAt: project.latestExport.createdAt }]
          : [],
      ),
      templates: customItems(me.templates),
      libraries: customItems(me.uiLibraries),
    }
  )
}

function customItems(listed: readonly ListedCustom[]): readonly Item[] {
  return listed.map((item, index) => toItem(item, listed[index - 1]?.cursor ?? '', item.kind ?? ''))
}

function exportDetail({ latestExport }: ListedProject): string {
  if (!latestExport) return 'no export yet'
  const { elementCount, byteLength } = latestExport
  return `${elementCount} ${elementCount === 1 ? 'file' : 'files'}, ${sizeText(byteLength)}`
}

function toItem(listed: Listed, key: string, detail: string): Item {
  const { documentId, name, description, framework, tags, version, updatedAt } = listed
  return {
    key,
    name: name ?? documentId ?? key,
    description: description ?? '',
    framework: framework ?? '',
    version: version ?? '',
    changedAt: updatedAt ?? '',
    detail,
    searched: [name, documentId, key, description, framework, ...(tags ?? [])].join(' ').toLowerCase(),
  }
}

/** Every word must be found. */
export function arranged(items: readonly Item[], search: string, sort: Sort): readonly Item[] {
  const words = search.toLowerCase().split(/\s+/)
  return items.filter(({ searched }) => words.every((word) => searched.includes(word))).sort(SORTS[sort].compare)
}

export function dateText(timestamp: string): string {
  const date = new Date(timestamp)
  if (Number.isNaN(date.getTime())) return timestamp
  return date.toLocaleDateString(undefined, { year: 'numeric', month: 'short', day: 'numeric' })
}
