// DataLoaders for what one request reads by key: equal keys are read once, and the keys of one turn are read as one
// list.
import DataLoader from 'dataloader'
import type {
  DocumentKey,
  ExportKey,
  LatestExportQuestion,
  ProjectRef,
  StoredDocument,
  StoredElement,
  StoredExport,
} from '../../store/contract.ts'
import { type ExportBytes, type ExportReading, exportBytes, isReadWhole } from '../documents/export-bytes.ts'
import { inPortions } from '../documents/read-in-portions.ts'
import type { RequestBudget } from '../request-budget.ts'
import type { ElementKey, Reads } from './reads.ts'

export interface Loaders {
  readonly document: DataLoader<DocumentKey, StoredDocument | null, string>
  readonly project: DataLoader<ProjectRef, StoredDocument | null, string>
  /** Null if the project has no export; undefined if there is no such project. */
  readonly latestExport: DataLoader<LatestExportQuestion, StoredExport | null | undefined, string>
  readonly export: DataLoader<ExportKey, StoredExport | null, string>
  readonly element: DataLoader<ElementKey, StoredElement | null, string>
  readonly exportBytes: DataLoader<StoredExport, ExportBytes, number>
}

export function createLoaders(reads: Reads, reading: ExportReading, budget: RequestBudget): Loaders {
  const { paceReading } = reading
  /**
   * Charges the bytes before it reads them; streamed bytes are never held. A failure affects only this export of the
   * batch.
   */
  async function readExport(snapshot: StoredExport): Promise<ExportBytes | Error> {
    try {
      if (isReadWhole(snapshot)) budget.read(snapshot.byteLength)
      return await exportBytes(snapshot, reading)
    } catch (error) {
      // DataLoader treats a returned Error as the failure of this key.
      if (error instanceof Error) return error
      throw error
    }
  }
  const refKey = ({ userId, ref }: ProjectRef) => `${userId} ${ref}`
  return {
    document: new DataLoader(inPortions(reads.documentsById, paceReading), {
      cacheKeyFn: ({ userId, kind, id }) => `${userId} ${kind} ${id}`,
    }),
    project: new DataLoader(inPortions(reads.projectsByRef, paceReading), { cacheKeyFn: refKey }),
    latestExport: new DataLoader(reads.latestExports, { cacheKeyFn: refKey }),
    export: new DataLoader(reads.exportsByKey, {
      cacheKeyFn: ({ userId, instant, digest, ref }) => `${userId} ${instant} ${digest} ${ref}`,
    }),
    element: new DataLoader(inPortions(reads.elementsAt, paceReading), {
      cacheKeyFn: ({ exportId, position }) => `${exportId} ${position}`,
    }),
    exportBytes: new DataLoader((snapshots) => Promise.all(snapshots.map(readExport)), {
      cacheKeyFn: ({ id }) => id,
    }),
  }
}
