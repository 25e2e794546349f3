// Removes staged rows in SQLite: leftovers of dead imports in small pieces, and everything staged for an email at once.
import type { Database } from 'better-sqlite3'
import { MAX_ELEMENTS } from '../reads-contract.ts'
import { DROPPED_AT, STALE_BYTES_PER_CALL, STALE_ROWS_PER_CALL } from '../workspace-edits.ts'
import { ELEMENT_KEY } from './engine/row-ids.ts'

/** How much one call may still remove. */
interface Allowance {
  rows: number
  bytes: number
}

/**
 * Run it within a transaction of the writer. Removes some of the staged rows that were not touched since `before`, and
 * returns true when nothing is left.
 */
export function createStaleStages(writer: Database): (before: number) => boolean {
  // The mark stays visible: an import that was only suspended finds that its replacement accepts no further steps.
  const marks = [
    `update replacement set touched_at = ${DROPPED_AT} where touched_at < ? and touched_at > ${DROPPED_AT}`,
    `update staged_export set staged_at = ${DROPPED_AT}
       where owner is null and staged_at < ? and staged_at > ${DROPPED_AT}`,
  ].map((sql) => writer.prepare<[number]>(sql))
  const exportsOfNobody = prepareNumbers<[number]>(
    writer,
    `select id from staged_export where owner is null and staged_at = ${DROPPED_AT} limit ?`,
  )
  const users = prepareNumbers<[number]>(
    writer,
    `select s.id from replacement r cross join staged_user s on s.replacement = r.name
       where r.touched_at = ${DROPPED_AT} limit ?`,
  )
  const exportsOf = prepareNumbers<[number, number]>(writer, 'select id from staged_export where owner = ? limit ?')
  const dropElements = prepareNumbers<[number, number, number, number, number]>(
    writer,
    `delete from export_element where key > ${ELEMENT_KEY} and key <= ${ELEMENT_KEY}
       returning octet_length(text) limit ?`,
  )
  const dropDocuments = prepareNumbers<[number, number, number]>(
    writer,
    `delete from staged_document where key >= ? << 28 and key < (? + 1) << 28 returning octet_length(text) limit ?`,
  )
  const dropExportRow = writer.prepare<[number]>('delete from staged_export where id = ?')
  const dropUserRow = writer.prepare<[number]>('delete from staged_user where id = ?')
  const dropReplacements = writer.prepare(`delete from replacement where touched_at = ${DROPPED_AT}`)

  /** Removes the export, or as many of its elements as the allowance permits. */
  function dropExport(id: number, left: Allowance): void {
    charge(left, dropElements.all(id, 0, id, MAX_ELEMENTS, left.rows))
    if (isUsedUp(left)) return
    dropExportRow.run(id)
    left.rows -= 1
  }

  function dropUser(id: number, left: Allowance): void {
    for (const one of exportsOf.all(id, left.rows)) {
      dropExport(one, left)
      if (isUsedUp(left)) return
    }
    charge(left, dropDocuments.all(id, id, left.rows))
    if (isUsedUp(left)) return
    dropUserRow.run(id)
    left.rows -= 1
  }

  return (before) => {
    for (const mark of marks) mark.run(before)
    const left = { rows: STALE_ROWS_PER_CALL, bytes: STALE_BYTES_PER_CALL }
    for (const [list, drop] of [
      [exportsOfNobody, dropExport],
      [users, dropUser],
    ] as const) {
      for (const id of list.all(left.rows)) {
        drop(id, left)
        if (isUsedUp(left)) return false
      }
    }
    dropReplacements.run()
    return true
  }
}

/**
 * Run it within a transaction of the writer. Removes everything that replacements have staged for the email, and
 * returns whether there was anything. Ends these replacements, running ones included: otherwise the rest of their input
 * would be swapped in as if it were complete.
 */
export function createStagedRemoval(writer: Database): (email: string) => boolean {
  const end = writer.prepare<[string]>(
    `update replacement set touched_at = ${DROPPED_AT} where name in (select replacement from staged_user where email = ?)`,
  )
  const owners = prepareNumbers<[string]>(writer, 'select id from staged_user where email = ?')
  // A trigger removes the elements.
  const dropExports = writer.prepare<[number]>('delete from staged_export where owner = ?')
  const dropDocuments = writer.prepare<[number, number]>(
    'delete from staged_document where key >= ? << 28 and key < (? + 1) << 28',
  )
  const dropUser = writer.prepare<[number]>('delete from staged_user where id = ?')
  return (email) => {
    end.run(email)
    const found = owners.all(email)
    for (const owner of found) {
      dropExports.run(owner)
      dropDocuments.run(owner, owner)
      dropUser.run(owner)
    }
    return found.length > 0
  }
}

function prepareNumbers<V extends unknown[]>(writer: Database, sql: string) {
  return writer.prepare<V, number>(sql).pluck()
}

/** Charges removed rows to the allowance; `sizes` are in bytes. */
function charge(left: Allowance, sizes: readonly number[]): void {
  left.rows -= sizes.length
  for (const bytes of sizes) left.bytes -= bytes
}

function isUsedUp({ rows, bytes }: Allowance): boolean {
  return rows <= 0 || bytes <= 0
}
