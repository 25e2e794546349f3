// What imports that died have left behind in SQLite, removed in pieces.
import type { Database } from 'better-sqlite3'
import { ELEMENT_KEY, MAX_ELEMENT_POSITION } from './engine/row-ids.ts'

/** Rows of one call, so that it holds the write lock only briefly. */
const ROWS_PER_CALL = 2_000

/** Within a transaction of the writer: removes some of what was not touched since `before`; true when nothing is left. */
export function createStaleStages(writer: Database): (before: number) => boolean {
  const staleExport = writer
    .prepare<[number], number>('select id from staged_export where owner is null and staged_at < ? limit 1')
    .pluck()
  const dropElements = writer.prepare<[number, number, number, number, number]>(
    `delete from export_element where key > ${ELEMENT_KEY} and key <= ${ELEMENT_KEY} limit ?`,
  )
  const dropExport = writer.prepare<[number]>('delete from staged_export where id = ?')
  const staleReplacement = writer
    .prepare<[number], string>('select name from replacement where touched_at < ? limit 1')
    .pluck()
  const stagedUser = writer
    .prepare<[string], number>('select id from staged_user where replacement = ? limit 1')
    .pluck()
  const dropDocuments = writer.prepare<[number, number]>(
    `delete from staged_document where key >= ? << 28 and key < (? + 1) << 28 limit ${ROWS_PER_CALL}`,
  )
  const disown = writer.prepare<[number]>('update staged_export set owner = null, staged_at = -1 where owner = ?')
  const dropUser = writer.prepare<[number]>('delete from staged_user where id = ?')
  const dropReplacement = writer.prepare<[string]>('delete from replacement where name = ?')

  function dropSomeOf(replacement: string): void {
    const owner = stagedUser.get(replacement)
    if (owner === undefined) dropReplacement.run(replacement)
    else if (dropDocuments.run(owner, owner).changes === 0) {
      disown.run(owner)
      dropUser.run(owner)
    }
  }

  return (before) => {
    const id = staleExport.get(before)
    if (id !== undefined) {
      const dropped = dropElements.run(id, 0, id, MAX_ELEMENT_POSITION, ROWS_PER_CALL)
      if (dropped.changes === 0) dropExport.run(id)
      return false
    }
    const replacement = staleReplacement.get(before)
    if (replacement === undefined) return true
    dropSomeOf(replacement)
    return false
  }
}
