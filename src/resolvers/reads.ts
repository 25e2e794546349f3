// The store's reads, one question at a time: those of one turn of the event loop, of all requests, become one batch each.
import { batchPerTurn } from '../store/batch-per-turn.ts'
import type {
  DocumentList,
  ElementPage,
  ElementRun,
  ElementRunQuestion,
  ExpectedVersion,
  ExportPage,
  Page,
  ProjectRef,
  StoredDocument,
  StoredElement,
  StoredExport,
  WorkspaceReads,
} from '../store/contract.ts'

export interface Reads {
  readonly documents: (page: DocumentList & Page) => Promise<readonly StoredDocument[]>
  readonly documentCount: (list: DocumentList) => Promise<number>
  readonly projectByRef: (ref: ProjectRef) => Promise<StoredDocument | null>
  readonly latestExport: (ref: ProjectRef) => Promise<StoredExport | null>
  readonly exports: (page: ExportPage) => Promise<readonly StoredExport[]>
  readonly exportCount: (ref: ProjectRef) => Promise<number>
  readonly elements: (page: ElementPage) => Promise<readonly StoredElement[]>
  readonly elementRun: (question: ElementRunQuestion) => Promise<ElementRun | null>
}

export function createReads(store: WorkspaceReads): Reads {
  // Ticks run before the turn ends, so these reads see the state that the session was looked up in.
  const { nextTick } = process
  return {
    documents: batchPerTurn(store.documentsOf, nextTick),
    documentCount: batchPerTurn(store.documentCounts, nextTick),
    projectByRef: batchPerTurn(store.projectsByRef, nextTick),
    latestExport: batchPerTurn(store.latestExports, nextTick),
    exports: batchPerTurn(store.exportsOf, nextTick),
    exportCount: batchPerTurn(store.exportCounts, nextTick),
    elements: batchPerTurn(store.elementsOf, nextTick),
    elementRun: batchPerTurn(store.elementRunsOf, nextTick),
  }
}

/** The same reads for one request: every question names the state that its session was looked up in. */
export function withExpectedVersion(reads: Reads, seen: ExpectedVersion): Reads {
  return {
    documents: (page) => reads.documents({ ...page, seen }),
    documentCount: (list) => reads.documentCount({ ...list, seen }),
    projectByRef: (ref) => reads.projectByRef({ ...ref, seen }),
    latestExport: (ref) => reads.latestExport({ ...ref, seen }),
    exports: (page) => reads.exports({ ...page, seen }),
    exportCount: (ref) => reads.exportCount({ ...ref, seen }),
    elements: (page) => reads.elements({ ...page, seen }),
    elementRun: (question) => reads.elementRun({ ...question, seen }),
  }
}
