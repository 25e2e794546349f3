// Batches the store's reads: the reads of one kind that all requests make in one turn of the event loop become one
// batch.
import { batchListsPerTurn, batchPerTurn } from '../../store/batch-per-turn.ts'
import type {
  DocumentKey,
  DocumentList,
  ElementList,
  ElementPage,
  ElementRun,
  ElementRunQuestion,
  ExpectedVersion,
  ExportKey,
  ExportPage,
  LatestExportQuestion,
  OfUser,
  PagePart,
  PageWithin,
  ProjectRef,
  StoredDocument,
  StoredElement,
  StoredExport,
  WorkspaceReads,
} from '../../store/contract.ts'

/** One element of an export. */
export interface ElementKey extends ElementList {
  readonly position: number
}

/**
 * Each answers as the store verb that it is made of (`src/store/reads-contract.ts`), and rejects with the errors of the
 * store. Lists and counts take one question per call. Reads by key take lists of keys, as the loaders call them.
 */
export interface Reads {
  readonly documentsWithin: (page: DocumentList & PageWithin) => Promise<PagePart<StoredDocument>>
  readonly documentsById: (keys: readonly DocumentKey[]) => Promise<readonly (StoredDocument | null)[]>
  readonly documentCount: (list: DocumentList) => Promise<number>
  readonly projectsByRef: (refs: readonly ProjectRef[]) => Promise<readonly (StoredDocument | null)[]>
  readonly latestExports: (
    questions: readonly LatestExportQuestion[],
  ) => Promise<readonly (StoredExport | null | undefined)[]>
  readonly exportsByKey: (keys: readonly ExportKey[]) => Promise<readonly (StoredExport | null)[]>
  readonly exports: (page: ExportPage) => Promise<readonly StoredExport[]>
  readonly exportCount: (ref: ProjectRef) => Promise<number>
  readonly elementsWithin: (page: ElementList & PageWithin) => Promise<PagePart<StoredElement>>
  readonly elementsAt: (keys: readonly ElementKey[]) => Promise<readonly (StoredElement | null)[]>
  readonly elementRun: (question: ElementRunQuestion) => Promise<ElementRun | null>
}

export function createReads(store: WorkspaceReads): Reads {
  // `nextTick` callbacks run before the turn ends, so these reads usually see the same state as the session lookup.
  const { nextTick } = process
  return {
    documentsWithin: batchPerTurn(store.documentsWithin, nextTick),
    documentsById: batchListsPerTurn(store.documentsById, nextTick),
    documentCount: batchPerTurn(store.documentCounts, nextTick),
    projectsByRef: batchListsPerTurn(store.projectsByRef, nextTick),
    latestExports: batchListsPerTurn(store.latestExports, nextTick),
    exportsByKey: batchListsPerTurn(store.exportsByKey, nextTick),
    exports: batchPerTurn(store.exportsOf, nextTick),
    exportCount: batchPerTurn(store.exportCounts, nextTick),
    elementsWithin: batchPerTurn(store.elementsWithin, nextTick),
    elementsAt: batchListsPerTurn(async (keys) => {
      const pages = await store.elementsOf(keys.map(toPage))
      return pages.map(([element = null]) => element)
    }, nextTick),
    elementRun: batchPerTurn(store.elementRunsOf, nextTick),
  }
}

function toPage({ position, ...list }: ElementKey): ElementPage {
  return { ...list, after: position - 1, before: position + 1, limit: null }
}

/** The same reads for one request: every question carries the state version that its session lookup saw. */
export function withExpectedVersion(reads: Reads, expected: ExpectedVersion): Reads {
  const expecting = <K extends OfUser>(questions: readonly K[]) =>
    questions.map((question) => ({ ...question, expected }))
  return {
    documentsWithin: (page) => reads.documentsWithin({ ...page, expected }),
    documentsById: (keys) => reads.documentsById(expecting(keys)),
    documentCount: (list) => reads.documentCount({ ...list, expected }),
    projectsByRef: (refs) => reads.projectsByRef(expecting(refs)),
    latestExports: (questions) => reads.latestExports(expecting(questions)),
    exportsByKey: (keys) => reads.exportsByKey(expecting(keys)),
    exports: (page) => reads.exports({ ...page, expected }),
    exportCount: (ref) => reads.exportCount({ ...ref, expected }),
    elementsWithin: (page) => reads.elementsWithin({ ...page, expected }),
    elementsAt: (keys) => reads.elementsAt(expecting(keys)),
    elementRun: (question) => reads.elementRun({ ...question, expected }),
  }
}
