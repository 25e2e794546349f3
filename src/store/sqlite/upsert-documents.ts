// Upserts the documents of an import into SQLite, inserting new ones many rows at a time.
import type { Database } from 'better-sqlite3'
import type { Change, ChangeOutcome, DocumentKind } from '../contract.ts'
import { LAST_DOCUMENT_POSITION } from '../reads-contract.ts'
import { prepareRowInsert, ROWS_PER_INSERT } from './engine/bulk-insert.ts'
import { sqliteCode } from './engine/faults/sqlite-errors.ts'
import { DOCUMENT_KEY, DOCUMENT_POSITION, KIND_CODES, MAX_DOCUMENT_POSITION } from './engine/row-ids.ts'

type DocumentPut = Extract<Change, { readonly type: 'putDocument' }>

export interface DocumentPuts {
  /** Clears the lookups. Call it when a transaction begins: other connections may have changed the rows. */
  readonly begin: () => void
  /** Returns one outcome per change, in order. */
  readonly put: (changes: readonly DocumentPut[]) => readonly ChangeOutcome[]
}

/** A document list as this transaction found it, with the ids that the transaction added. */
interface KnownList {
  readonly userId: number
  readonly kind: DocumentKind
  readonly wasEmpty: boolean
  readonly addedIds: Set<string>
  lastPosition: number
}

interface NewDocument {
  readonly list: KnownList
  readonly position: number
  readonly change: DocumentPut
}

export function createDocumentPuts(writer: Database, userIdOf: (email: string) => number): DocumentPuts {
  const stored = writer.prepare<[number, string, string], { readonly ref: string | null; readonly text: string }>(
    'select ref, text from document where user_id = ? and kind = ? and id = ?',
  )
  const replace = writer.prepare<[string | null, string, number, string, string]>(
    'update or fail document set ref = ?, text = ? where user_id = ? and kind = ? and id = ?',
  )
  const lastPosition = writer
    .prepare<[number, number, number, number, number, number], number>(
      `select ${DOCUMENT_POSITION} from document
       where key > ${DOCUMENT_KEY} and key <= ${DOCUMENT_KEY} order by key desc limit 1`,
    )
    .pluck()
  const insert = prepareRowInsert(
    writer,
    'document (key, user_id, kind, id, ref, text)',
    `(${DOCUMENT_KEY}, ?, ?, ?, ?, ?)`,
  )

  const lists: { readonly [K in DocumentKind]: Map<string, KnownList> } = {
    project: new Map(),
    template: new Map(),
    uiLibrary: new Map(),
  }

  function listOf({ email, kind }: DocumentPut): KnownList {
    const known = lists[kind].get(email)
    if (known) return known
    const userId = userIdOf(email)
    const code = KIND_CODES[kind]
    const last = lastPosition.get(userId, code, 0, userId, code, MAX_DOCUMENT_POSITION) ?? 0
    const list = { userId, kind, wasEmpty: last === 0, addedIds: new Set<string>(), lastPosition: last }
    lists[kind].set(email, list)
    return list
  }

  /** Inserts at most `ROWS_PER_INSERT` documents: in one statement, or one by one if a reference is taken. */
  function addAll(documents: readonly NewDocument[]): readonly ChangeOutcome[] {
    const rows = documents.map(valuesOf)
    if (rows.length === ROWS_PER_INSERT && !failsOnTakenRef(() => insert(rows))) return rows.map(() => 'added')
    return rows.map((row) => (failsOnTakenRef(() => insert([row])) ? 'refTaken' : 'added'))
  }

  function putStored({ userId, kind }: KnownList, change: DocumentPut, before: { ref: string | null; text: string }) {
    if (before.text === change.text && before.ref === change.ref) return 'unchanged'
    const { id, ref, text } = change
    return failsOnTakenRef(() => replace.run(ref, text, userId, kind, id)) ? 'refTaken' : 'replaced'
  }

  function put(changes: readonly DocumentPut[]): readonly ChangeOutcome[] {
    const outcomes: ChangeOutcome[] = []
    let waiting: NewDocument[] = []

    function addWaiting(): void {
      outcomes.push(...addAll(waiting))
      waiting = []
    }

    for (const change of changes) {
      const list = listOf(change)
      const wasAdded = list.addedIds.has(change.id)
      if (wasAdded) addWaiting()
      const before = list.wasEmpty && !wasAdded ? undefined : stored.get(list.userId, list.kind, change.id)
      if (before) {
        addWaiting()
        outcomes.push(putStored(list, change, before))
        continue
      }
      if (list.lastPosition >= LAST_DOCUMENT_POSITION) {
        addWaiting()
        outcomes.push('listFull')
        continue
      }
      list.lastPosition += 1
      list.addedIds.add(change.id)
      waiting.push({ list, position: list.lastPosition, change })
      if (waiting.length === ROWS_PER_INSERT) addWaiting()
    }
    addWaiting()
    return outcomes
  }

  return {
    begin() {
      for (const known of Object.values(lists)) known.clear()
    },
    put,
  }
}

function valuesOf({ list: { userId, kind }, position, change: { id, ref, text } }: NewDocument): unknown[] {
  return [userId, KIND_CODES[kind], position, userId, kind, id, ref, text]
}

/** The ids are known to be new or to exist, so a unique constraint can fail only for the reference. */
function failsOnTakenRef(run: () => unknown): boolean {
  try {
    run()
    return false
  } catch (error) {
    if (sqliteCode(error) === 'SQLITE_CONSTRAINT_UNIQUE') return true
    throw error
  }
}
