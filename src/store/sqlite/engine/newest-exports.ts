// The newest export of each of many projects: one statement for those of a user, at half the cost of one for each.
import type { Database } from 'better-sqlite3'
import type { ProjectRef, StoredExport } from '../../contract.ts'
import type { ExportPages } from './export-pages.ts'

type Facts = [id: number, createdAt: string, instant: string, digest: string, byteLength: number, elementCount: number]

const FACTS = 'e.id, e.created_at, e.instant, e.digest, e.byte_length, e.element_count'
const NEWEST = 'order by instant desc, id desc limit 1'

/** Answers in order: null for a project without an export, undefined where there is no such project. */
export type NewestExports = (refs: readonly ProjectRef[]) => readonly (StoredExport | null | undefined)[]

export function createNewestExports(database: Database, exports: ExportPages): NewestExports {
  const ofMany = database
    .prepare<[refs: string, user: number, user: number], [index: number, ...Facts]>(
      `select asked.key, ${FACTS} from json_each(+?) asked cross join export e
       where e.id = (select id from export where user_id = +? and ref = asked.value ${NEWEST})
         and exists (select 1 from document where user_id = +? and ref = asked.value)`,
    )
    .raw()
  const projects = database
    .prepare<[refs: string, user: number], number>(
      `select asked.key from json_each(+?) asked
       where exists (select 1 from document where user_id = +? and ref = asked.value)`,
    )
    .pluck()
  const project = database
    .prepare<[user: number, ref: string], 1>('select 1 from document where user_id = +? and ref = +?')
    .pluck()

  function newestOf(userId: number, ref: string): StoredExport | null | undefined {
    if (project.get(userId, ref) === undefined) return undefined
    const [newest] = exports({ userId, ref, after: null, limit: 1 })
    return newest ?? null
  }

  function newestOfMany(userId: number, refs: readonly string[]): readonly (StoredExport | null | undefined)[] {
    const answers: (StoredExport | null | undefined)[] = refs.map(() => undefined)
    const asked = JSON.stringify(refs)
    const rows = ofMany.all(asked, userId, userId)
    for (const [index, ...facts] of rows) answers[index] = toExport(userId, refs[index] ?? '', facts)
    // In most questions every project has an export: the join that would tell the others costs more than this.
    if (rows.length < refs.length) for (const index of projects.all(asked, userId)) answers[index] ??= null
    return answers
  }

  return (questions) => {
    const answers: (StoredExport | null | undefined)[] = []
    for (let at = 0; at < questions.length; ) {
      const { userId } = questions[at] as ProjectRef
      const refs: string[] = []
      // A lone surrogate is stored as U+FFFD, and asked for as that.
      for (; questions[at]?.userId === userId; at += 1) refs.push(questions[at]?.ref.toWellFormed() ?? '')
      // Two lookups cost less than taking a list apart.
      if (refs.length === 1) answers.push(newestOf(userId, refs[0] ?? ''))
      else for (const answer of newestOfMany(userId, refs)) answers.push(answer)
    }
    return answers
  }
}

function toExport(userId: number, ref: string, facts: Facts): StoredExport {
  const [id, createdAt, instant, digest, byteLength, elementCount] = facts
  return { id, userId, ref, createdAt, instant, digest, byteLength, elementCount }
}
