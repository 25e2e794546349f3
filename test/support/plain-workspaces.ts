// Reads import records into the workspaces that the plain server has, as JSON texts.
import { elementTexts } from '../../src/json-text.ts'

export interface PlainExport {
  readonly createdAt: string
  /** JSON texts. */
  readonly elements: readonly string[]
}

/** A test may change all of it while the server runs. */
export interface PlainWorkspace {
  /** JSON texts in the order of the list. */
  readonly projects: string[]
  readonly templates: string[]
  readonly uiLibraries: string[]
  /** The newest export of each reference. */
  readonly exports: Map<string, PlainExport>
}

const LISTS = { project: 'projects', template: 'templates', uiLibrary: 'uiLibraries' } as const

/**
 * Keyed by email. Takes the records that `dump` writes: `data` is the last member of a record, and its bytes are kept.
 */
export function plainWorkspaces(ndjson: string): Map<string, PlainWorkspace> {
  const workspaces = new Map<string, PlainWorkspace>()
  const split = new Map<string, string[]>()
  for (const line of ndjson.split('\n').filter((text) => text.trim() !== '')) {
    const record = JSON.parse(line)
    if (record.kind === 'exportElement') {
      split.get(record.export)?.push(dataOf(line))
      continue
    }
    const workspace = workspaces.get(record.email) ?? emptyWorkspace()
    workspaces.set(record.email, workspace)
    if (record.kind === 'export') {
      const elements: string[] = record.id === undefined ? [...(elementTexts(dataOf(line)) ?? [])] : []
      if (record.id !== undefined) split.set(record.id, elements)
      const known = workspace.exports.get(record.r)
      if (!known || Date.parse(known.createdAt) <= Date.parse(record.createdAt)) {
        workspace.exports.set(record.r, { createdAt: record.createdAt, elements })
      }
    } else if (record.kind !== 'user') {
      workspace[LISTS[record.kind as keyof typeof LISTS]].push(dataOf(line))
    }
  }
  return workspaces
}

function emptyWorkspace(): PlainWorkspace {
  return { projects: [], templates: [], uiLibraries: [], exports: new Map() }
}

function dataOf(line: string): string {
  return line.slice(line.indexOf('"data":') + '"data":'.length, line.lastIndexOf('}'))
}
