// The newest export of each of many projects: one statement for those of a user, at half the cost of one for each.
import type { Database } from 'better-sqlite3'
import type { ProjectRef, StoredExport } from '../../contract.ts'

type Found = [
  asked: number,
  id: number,
  createdAt: string,
  instant: string,
  digest: string,
  byteLength: number,
  elementCount: number,
]

/** Answers in order: null for a project without an export, undefined where there is no such project. */
export type NewestExports = (refs: readonly ProjectRef[]) => (StoredExport | null | undefined)[]

export function createNewestExports(database: Database): NewestExports {
  const ofUser = database
    .prepare<[user: number, refs: string], Found>(
      `with owner (user_id) as (values (?))
       select asked.key, e.id, e.created_at, e.instant, e.digest, e.byte_length, e.element_count
       from owner cross join json_each(?) asked cross join export e
       where e.id = (select id from export where user_id = owner.user_id and ref = asked.value order by instant desc, id desc limit 1)
         and exists (select 1 from document where user_id = owner.user_id and ref = asked.value)`,
    )
    .raw()
  const projects = database
    .prepare<[refs: string, user: number], number>(
      `select asked.key from json_each(?) asked
       where exists (select 1 from document where user_id = ? and ref = asked.value)`,
    )
    .pluck()

  return (questions) => {
    const answers = questions.map((): StoredExport | null | undefined => undefined)
    for (let start = 0; start < questions.length; ) {
      const { userId } = questions[start] as ProjectRef
      const refs: string[] = []
      // A lone surrogate is stored as U+FFFD, and asked for as that.
      for (let at = start; questions[at]?.userId === userId; at += 1) refs.push(questions[at]?.ref.toWellFormed() ?? '')
      const asked = JSON.stringify(refs)
      const rows = ofUser.all(userId, asked)
      for (const [index, id, createdAt, instant, digest, byteLength, elementCount] of rows) {
        const ref = refs[index] ?? ''
        answers[start + index] = { id, userId, ref, createdAt, instant, digest, byteLength, elementCount }
      }
      // In most questions every project has an export: the join that would tell the others costs more than this.
      if (rows.length < refs.length) for (const index of projects.all(asked, userId)) answers[start + index] ??= null
      start += refs.length
    }
    return answers
  }
}
