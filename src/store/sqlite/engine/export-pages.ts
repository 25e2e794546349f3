// Reads pages of export histories, newest first.
import type { Database } from 'better-sqlite3'
import type { ExportPage, StoredExport } from '../../contract.ts'
import { AFTER_ALL, BEFORE_ALL } from '../../reads-contract.ts'

export const EXPORT =
  'id, user_id as userId, ref, created_at as createdAt, instant, digest, byte_length as byteLength, element_count as elementCount'

/** In SQLite a negative limit means no limit. */
const NO_LIMIT = -1

type Between = [user: number, ref: string, after: string, id: number, before: string, id: number, limit: number]
const BETWEEN = `select ${EXPORT} from export
  where user_id = +? and ref = +? and (instant, id) < (+?, +?) and (instant, id) > (+?, +?)`

export type ExportPages = (page: ExportPage) => readonly StoredExport[]

export function createExportPages(database: Database): ExportPages {
  const newest = database.prepare<[number, string, number], StoredExport>(
    `select ${EXPORT} from export where user_id = +? and ref = +? order by instant desc, id desc limit +?`,
  )
  const between = database.prepare<Between, StoredExport>(`${BETWEEN} order by instant desc, id desc limit +?`)
  const oldest = database.prepare<Between, StoredExport>(`${BETWEEN} order by instant, id limit +?`)

  return ({ userId, ref, after, before, limit, fromEnd }) => {
    const most = limit ?? NO_LIMIT
    if (after === null && before === undefined && !fromEnd) return newest.all(userId, ref, most)
    const [upper, lower] = [after ?? BEFORE_ALL, before ?? AFTER_ALL]
    const range: Between = [userId, ref, upper.instant, upper.id, lower.instant, lower.id, most]
    return fromEnd ? oldest.all(...range).reverse() : between.all(...range)
  }
}
