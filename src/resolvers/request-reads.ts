// The reads of one request: equal questions are asked once, all of one state, and what comes of them is counted.
import type { ExpectedVersion, PagePart } from '../store/contract.ts'
import { type Reads, withExpectedVersion } from './reads.ts'
import type { RequestBudget } from './request-budget.ts'

/** What an export takes beside its elements, in UTF-16 units. */
const EXPORT_LENGTH = 512

interface HasText {
  readonly text: string
}

export function createRequestReads(shared: Reads, seen: ExpectedVersion | null, budget: RequestBudget): Reads {
  const reads = seen ? withExpectedVersion(shared, seen) : shared

  function lengthOf(items: readonly HasText[]): number {
    return items.reduce((sum, { text }) => sum + text.length, 0)
  }

  const countItems = <T extends HasText>(items: readonly T[]) => budget.read(lengthOf(items))
  const countPart = <T extends HasText>({ items }: PagePart<T>) => countItems(items)
  const countFound = (found: readonly (HasText | null)[]) => countItems(found.filter((item) => item !== null))

  return {
    ...reads,
    documents: once(reads.documents, countItems),
    documentsWithin: once(reads.documentsWithin, countPart, isWhole),
    documentsById: counted(reads.documentsById, countFound),
    documentCount: once(reads.documentCount, () => {}),
    projectsByRef: counted(reads.projectsByRef, countFound),
    exports: once(reads.exports, (exports) => budget.read(exports.length * EXPORT_LENGTH)),
    exportCount: once(reads.exportCount, () => {}),
    elements: once(reads.elements, countItems),
    elementsWithin: once(reads.elementsWithin, countPart, isWhole),
    elementsAt: counted(reads.elementsAt, countFound),
  }
}

/** A part of a long list is let go once it was used. */
function isWhole({ isCut }: PagePart<unknown>): boolean {
  return !isCut
}

/** Questions are plain values: their JSON tells equal ones. */
function once<K, V>(
  read: (question: K) => Promise<V>,
  count: (answer: V) => void,
  isKept: (answer: V) => boolean = () => true,
): (question: K) => Promise<V> {
  // Made when the first is asked: most requests ask one kind of question.
  let asked: Map<string, Promise<V>> | null = null
  return (question) => {
    asked ??= new Map()
    const kept = asked
    const key = JSON.stringify(question)
    const known = kept.get(key)
    if (known) return known
    const answer = read(question).then((found) => {
      count(found)
      if (!isKept(found)) kept.delete(key)
      return found
    })
    kept.set(key, answer)
    return answer
  }
}

function counted<K, V>(read: (question: K) => Promise<V>, count: (answer: V) => void): (question: K) => Promise<V> {
  return async (question) => {
    const answer = await read(question)
    count(answer)
    return answer
  }
}
