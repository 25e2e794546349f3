// Replacements in SQLite: stages the new contents of users beside the current ones, then swaps them in user by user.
import type { Database } from 'better-sqlite3'
import { requireDocumentPlaces, requireElementPlaces } from '../contract.ts'
import {
  DROPPED_AT,
  MAX_USERS_PER_SWAP,
  ReplacementGoneError,
  type ReplacementStep,
  type StepOf,
  type WorkspaceEdits,
} from '../workspace-edits.ts'
import type { GroupCommit } from './engine/group-commit.ts'
import { DOCUMENT_KEY, ELEMENT_KEY, KIND_CODES, MAX_DOCUMENT_POSITION } from './engine/row-ids.ts'
import { createSwap } from './engine/swap-user.ts'

type ReplacementVerbs = Pick<
  WorkspaceEdits,
  'beginReplacement' | 'stageReplacement' | 'swapReplacement' | 'endReplacement'
>

interface Staged {
  readonly id: number
  readonly email: string
  readonly documents: number
}

export function createReplacements(writer: Database, commits: GroupCommit, staging: GroupCommit): ReplacementVerbs {
  const begin = writer.prepare<[string, number]>('insert into replacement (name, touched_at) values (?, ?)')
  const touch = writer.prepare<[number, string]>(
    `update replacement set touched_at = max(touched_at, ?) where name = ? and touched_at > ${DROPPED_AT}`,
  )
  const end = writer.prepare<[number, string]>('update replacement set touched_at = ? where name = ?')
  const owner = writer
    .prepare<[string, string], number>('select id from staged_user where replacement = ? and email = ?')
    .pluck()
  const addOwner = writer.prepare<[string, string]>('insert into staged_user (replacement, email) values (?, ?)')
  const restage = writer.prepare<[string | null, string, number, string, string]>(
    'update staged_document set ref = ?, text = ? where owner = ? and kind = ? and id = ?',
  )
  const lastKey = writer
    .prepare<[number, number, number, number, number, number], number>(
      `select key & ${MAX_DOCUMENT_POSITION} from staged_document
       where key > ${DOCUMENT_KEY} and key <= ${DOCUMENT_KEY} order by key desc limit 1`,
    )
    .pluck()
  const stageDocument = writer.prepare<[number, number, number, number, string, string, string | null, string]>(
    `insert into staged_document (key, owner, kind, id, ref, text) values (${DOCUMENT_KEY}, ?, ?, ?, ?, ?)`,
  )
  const stageExport = writer.prepare<[string, number, string, string, string]>(
    `insert into staged_export (stage, user_id, owner, ref, created_at, instant, staged_at) values (?, 0, ?, ?, ?, ?, 0)`,
  )
  const stagedExport = writer.prepare<[string], number>('select id from staged_export where stage = ?').pluck()
  const addElement = writer.prepare<[number, number, string]>(
    `insert into export_element (key, text) values (${ELEMENT_KEY}, ?)`,
  )
  const seal = writer.prepare<[string, number, number, string]>(
    'update staged_export set digest = ?, byte_length = ?, element_count = ? where stage = ?',
  )
  const next = writer.prepare<[string, string, number], Staged>(
    `select id, email, (select count(*) from staged_document d where d.owner = s.id) as documents
     from staged_user s where replacement = ? and email > ? order by email limit ?`,
  )
  const swap = createSwap(writer)

  function requireTouched(replacement: string, now: number): void {
    if (touch.run(now, replacement).changes === 0) {
      throw new ReplacementGoneError()
    }
  }

  function ownerOf(replacement: string, email: string): number {
    return owner.get(replacement, email) ?? Number(addOwner.run(replacement, email).lastInsertRowid)
  }

  function requireStaged(stage: string): number {
    const id = stagedExport.get(stage)
    if (id === undefined) throw new Error('the staged export is gone')
    return id
  }

  const STAGE: { readonly [T in ReplacementStep['type']]: (replacement: string, step: StepOf<T>) => void } = {
    stageUser: (replacement, { email }) => ownerOf(replacement, email),
    stageDocument(replacement, { email, kind, id, ref, text }) {
      const staged = ownerOf(replacement, email)
      if (restage.run(ref, text, staged, kind, id).changes > 0) return
      const code = KIND_CODES[kind]
      const position = 1 + (lastKey.get(staged, code, 0, staged, code, MAX_DOCUMENT_POSITION) ?? 0)
      requireDocumentPlaces([{ position }])
      stageDocument.run(staged, code, position, staged, kind, id, ref, text)
    },
    stageExport: (replacement, { stage, email, ref, createdAt, instant }) =>
      stageExport.run(stage, ownerOf(replacement, email), ref, createdAt, instant),
    stageElements(_, { stage, position, texts }) {
      const id = requireStaged(stage)
      requireElementPlaces([{ position: position + texts.length - 1 }])
      for (const [index, text] of texts.entries()) addElement.run(id, position + index, text)
    },
    sealExport(_, { stage, digest, byteLength, elementCount }) {
      requireStaged(stage)
      seal.run(digest, byteLength, elementCount, stage)
    },
  }

  function stage<T extends ReplacementStep['type']>(replacement: string, step: StepOf<T> & { readonly type: T }): void {
    STAGE[step.type](replacement, step)
  }

  return {
    beginReplacement: (replacement, now) =>
      staging.write(() => {
        begin.run(replacement, now)
      }),
    stageReplacement: (replacement, steps, now) =>
      staging.write(() => {
        requireTouched(replacement, now)
        for (const step of steps) stage(replacement, step)
      }),
    swapReplacement: ({ replacement, after, maxDocuments, now, ...options }) =>
      (options.isDryRun ? staging : commits).write(() => {
        requireTouched(replacement, now)
        const fitting: Staged[] = []
        let documents = 0
        // Not `all`: the documents of those who wait would be counted each time.
        for (const user of next.iterate(replacement, after, MAX_USERS_PER_SWAP)) {
          documents += user.documents
          if (fitting.length > 0 && documents > maxDocuments) break
          fitting.push(user)
        }
        return fitting.map(({ id, email }) => swap(id, email, options))
      }),
    endReplacement: (replacement) =>
      staging.write(() => {
        end.run(DROPPED_AT, replacement)
      }),
  }
}
