// The reads of one request: shares the results of equal lists and counts, passes the expected state version, charges
// results to the budget.
import type { Pace } from '../../http/limits/turn-quota.ts'
import type { ExpectedVersion, PagePart, PageWithin } from '../../store/contract.ts'
import type { HasText } from '../documents/member-field.ts'
import { lengthOf } from '../documents/read-in-portions.ts'
import { EXPORT_LENGTH } from '../pagination/read-history.ts'
import type { RequestBudget } from '../request-budget.ts'
import { createReadLimit, type LimitReads } from './read-limit.ts'
import { type Reads, withExpectedVersion } from './reads.ts'

/** A part of a list. It counts against the request's budget until every caller that asked for it has released it. */
export interface HeldPart<T> extends PagePart<T> {
  /** Each caller calls it once, when it no longer refers to the items. */
  readonly letGo: () => void
}

type PartRead = 'documentsWithin' | 'elementsWithin'

export type RequestReads = Omit<Reads, PartRead> & {
  readonly [Name in PartRead]: (
    ...asked: Parameters<Reads[Name]>
  ) => Promise<HeldPart<Awaited<ReturnType<Reads[Name]>>['items'][number]>>
}

export function createRequestReads(
  shared: Reads,
  expected: ExpectedVersion | null,
  budget: RequestBudget,
  paceReading: Pace,
): RequestReads {
  const reads = expected ? withExpectedVersion(shared, expected) : shared

  // A part ends with the document that exceeds its byte limit, and that document may have any allowed length. Elements
  // need no such limit: the length of an export is known, so the callers pace these reads.
  const limitDocumentReads = createReadLimit(paceReading)
  const countFound = (found: readonly (HasText | null)[]) => budget.read(lengthOf(found))

  return {
    ...reads,
    documentsWithin: sharedParts(reads.documentsWithin, budget, limitDocumentReads),
    documentsById: counted(reads.documentsById, countFound),
    documentCount: once(reads.documentCount, () => {}),
    projectsByRef: counted(reads.projectsByRef, countFound),
    exports: once(reads.exports, (exports) => budget.read(exports.length * EXPORT_LENGTH)),
    exportCount: once(reads.exportCount, () => {}),
    elementsWithin: sharedParts(reads.elementsWithin, budget, (_bytes, read) => read()),
    elementsAt: counted(reads.elementsAt, countFound),
  }
}

/** Shares the result of equal questions, compared by their JSON, since questions are plain values. */
function once<K, V>(read: (question: K) => Promise<V>, count: (answer: V) => void): (question: K) => Promise<V> {
  // Created at the first question: most requests ask only one kind.
  let asked: Map<string, Promise<V>> | null = null
  return (question) => {
    asked ??= new Map()
    const kept = asked
    const key = JSON.stringify(question)
    const known = kept.get(key)
    if (known) return known
    const answer = read(question).then((found) => {
      count(found)
      return found
    })
    kept.set(key, answer)
    return answer
  }
}

interface SharedPart<T> {
  readonly part: Promise<HeldPart<T>>
  holders: number
}

/** Like `once`, but shares a part only until every caller has released it. */
function sharedParts<K extends PageWithin, T extends HasText>(
  read: (question: K) => Promise<PagePart<T>>,
  budget: RequestBudget,
  begin: LimitReads,
): (question: K) => Promise<HeldPart<T>> {
  let asked: Map<string, SharedPart<T>> | null = null

  async function readPart(question: K, key: string, known: Map<string, SharedPart<T>>): Promise<HeldPart<T>> {
    const { items, isCut } = await read(question)
    const length = lengthOf(items)
    budget.read(length)
    function letGo(): void {
      const shared = known.get(key)
      if (!shared) return
      shared.holders -= 1
      if (shared.holders > 0) return
      known.delete(key)
      budget.letGo(length)
    }
    return { items, isCut, letGo }
  }

  return (question) => {
    asked ??= new Map()
    const key = JSON.stringify(question)
    const shared = asked.get(key)
    if (shared) {
      shared.holders += 1
      return shared.part
    }
    const known = asked
    const part = begin(question.maxBytes, () => readPart(question, key, known))
    asked.set(key, { part, holders: 1 })
    return part
  }
}

function counted<K, V>(read: (question: K) => Promise<V>, count: (answer: V) => void): (question: K) => Promise<V> {
  return async (question) => {
    const answer = await read(question)
    count(answer)
    return answer
  }
}
