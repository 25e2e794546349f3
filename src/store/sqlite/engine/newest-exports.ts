// Finds the newest export of each of many projects, with one statement per user, at half the cost of one per project.
import type { Database } from 'better-sqlite3'
import type { LatestExportQuestion, StoredExport } from '../../contract.ts'
import type { ExportPages } from './export-pages.ts'

type Row = [
  index: number,
  id: number,
  createdAt: string,
  instant: string,
  digest: string,
  byteLength: number,
  elementCount: number,
]

/** Returns one answer per question, in order: null for a project without exports, undefined without such a project. */
export type NewestExports = (questions: readonly LatestExportQuestion[]) => readonly (StoredExport | null | undefined)[]

export function createNewestExports(database: Database, exports: ExportPages): NewestExports {
  const ofMany = database
    .prepare<[refs: string, user: number], Row>(
      `select asked.key, e.id, e.created_at, e.instant, e.digest, e.byte_length, e.element_count
       from json_each(+?) asked cross join export e
       where e.id = (
         select id from export where user_id = +? and ref = asked.value order by instant desc, id desc limit 1)`,
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

  function newestOf({ userId, ref, isKnown }: LatestExportQuestion): StoredExport | null | undefined {
    if (!isKnown && project.get(userId, ref) === undefined) return undefined
    const [newest] = exports({ userId, ref, after: null, limit: 1 })
    return newest ?? null
  }

  function newestOfMany({ userId, isKnown }: LatestExportQuestion, refs: readonly string[]) {
    const asked = JSON.stringify(refs)
    const answers: (StoredExport | null | undefined)[] = refs.map(() => (isKnown ? null : undefined))
    if (!isKnown) for (const index of projects.all(asked, userId)) answers[index] = null
    for (const row of ofMany.all(asked, userId)) {
      const [index] = row
      // Exports without a project stay hidden.
      if (answers[index] === null) answers[index] = toExport(userId, refs[index] ?? '', row)
    }
    return answers
  }

  return (questions) => {
    const answers: (StoredExport | null | undefined)[] = []
    for (let at = 0; at < questions.length; ) {
      const first = questions[at] as LatestExportQuestion
      const refs: string[] = []
      for (; isLike(first, questions[at]); at += 1) refs.push(wellFormed(questions[at]))
      // For one reference, two plain lookups are cheaper than parsing a JSON list.
      if (refs.length === 1) answers.push(newestOf({ ...first, ref: wellFormed(first) }))
      else for (const answer of newestOfMany(first, refs)) answers.push(answer)
    }
    return answers
  }
}

function isLike(first: LatestExportQuestion, other: LatestExportQuestion | undefined): boolean {
  return other?.userId === first.userId && other.isKnown === first.isKnown
}

/** SQLite stores a lone surrogate as U+FFFD, so the lookup has to use U+FFFD as well. */
function wellFormed(question: LatestExportQuestion | undefined): string {
  return question?.ref.toWellFormed() ?? ''
}

function toExport(
  userId: number,
  ref: string,
  [, id, createdAt, instant, digest, byteLength, elementCount]: Row,
): StoredExport {
  return { id, userId, ref, createdAt, instant, digest, byteLength, elementCount }
}
