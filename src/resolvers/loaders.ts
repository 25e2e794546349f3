// What one request reads by name: equal names are asked for once, and those of one turn in one list.
import DataLoader from 'dataloader'
import type {
  DocumentKey,
  ExportKey,
  ProjectRef,
  StoredDocument,
  StoredElement,
  StoredExport,
} from '../store/contract.ts'
import type { ElementKey, Reads } from './reads.ts'

export interface Loaders {
  readonly document: DataLoader<DocumentKey, StoredDocument | null, string>
  readonly project: DataLoader<ProjectRef, StoredDocument | null, string>
  readonly latestExport: DataLoader<ProjectRef, StoredExport | null, string>
  readonly export: DataLoader<ExportKey, StoredExport | null, string>
  readonly element: DataLoader<ElementKey, StoredElement | null, string>
}

export function createLoaders(reads: Reads): Loaders {
  const refKey = ({ userId, ref }: ProjectRef) => `${userId} ${ref}`
  return {
    document: new DataLoader(reads.documentsById, {
      cacheKeyFn: ({ userId, kind, id }) => `${userId} ${kind} ${id}`,
    }),
    project: new DataLoader(reads.projectsByRef, { cacheKeyFn: refKey }),
    latestExport: new DataLoader(reads.latestExports, { cacheKeyFn: refKey }),
    export: new DataLoader(reads.exportsByKey, {
      cacheKeyFn: ({ userId, instant, digest, ref }) => `${userId} ${instant} ${digest} ${ref}`,
    }),
    element: new DataLoader(reads.elementsAt, {
      cacheKeyFn: ({ exportId, position }) => `${exportId} ${position}`,
    }),
  }
}
