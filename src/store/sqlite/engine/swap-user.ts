// Replaces one user's documents and exports by the staged ones, with set-based SQL, so that no row passes through the
// memory of the process.
import type { Database } from 'better-sqlite3'
import { LAST_DOCUMENT_POSITION } from '../../reads-contract.ts'
import { DROPPED_AT, LAST_KEPT_POSITION, rankBy, type Swapped, type SwapQuestion } from '../../workspace-edits.ts'
import { MAX_DOCUMENT_POSITION } from './row-ids.ts'

/**
 * First position of the range that only documents on their way to another position use. Adding it sets a bit that no
 * other position has.
 */
const DETOUR = LAST_DOCUMENT_POSITION + 1
/** A temporary reference, longer than any real one. A project has it while other projects take their new references. */
const DETOUR_REF = `printf('%.*c', 1100, 'x') || id`

/** The named parameters of the statements. */
interface SwapParameters extends Record<string, unknown> {
  /** The id in `staged_user`. */
  readonly owner: number
  /** The id in `user`. */
  readonly userId: number
  /** 0 or 1. */
  readonly keepsExports: number
}

/** The key of a staged document after the swap: its kind and position, without the detour that a shift brings. */
const KEY = `((s.key & ${268_435_455 - DETOUR}) | ($userId << 28))`
const SAME = 's.owner = $owner and s.kind = document.kind and s.id = document.id'
const IS_KEPT = `($keepsExports and ref in (select ref from staged_document where owner = $owner and kind = 'project'))`
const EXPORTS_OF = `select ref, instant, digest from staged_export where owner = $owner and digest is not null`

/** An id that no user has, so that everything counts as new. */
const NOBODY = -1

/** The options of the same name in `SwapQuestion`. */
type SwapOptions = Pick<SwapQuestion, 'isDryRun' | 'keepsExports'>

/** `owner` is the id in `staged_user`. The returned function must run within a transaction of the writer. */
export function createSwap(writer: Database): (owner: number, email: string, options: SwapOptions) => Swapped {
  const userId = writer.prepare<[string], number>('select id from user where email = ?').pluck()
  const addUser = writer.prepare<[string]>('insert into user (email) values (?)')
  // `stored` lists the existing exports under the new reference of their project; `goes` marks those that are removed
  // with their project.
  const counts = writer.prepare<SwapParameters, Omit<Swapped, 'email'>>(
    `with
       d as (select d.user_id is null as isNew,
           d.text is s.text and d.ref is s.ref and ${rankBy('s.key')} = ${rankBy('d.key')} as isSame
         from staged_document s left join document d on d.user_id = $userId and d.kind = s.kind and d.id = s.id
         where s.owner = $owner),
       wanted as (select distinct ref, instant, digest from (${EXPORTS_OF})),
       stored as (select coalesce(s.ref, e.ref) as ref, instant, digest, d.id is not null and s.id is null as goes
         from export e left join document d on d.user_id = e.user_id and d.ref = e.ref
         left join staged_document s on s.owner = $owner and s.kind = d.kind and s.id = d.id
         where e.user_id = $userId),
       present as (select ref, instant, digest from stored),
       bare as (select 1 where not exists (select 1 from d) and not exists (select 1 from wanted))
     select
       (select count(*) from d where isNew) + (select count(*) from (select * from wanted except select * from present))
         + (select count(*) from bare where $userId = ${NOBODY}) as added,
       (select count(*) from d where not isNew and not isSame) as replaced,
       (select count(*) from d where isSame and not isNew)
         + (select count(*) from (select * from wanted intersect select * from present))
         + (select count(*) from bare where $userId <> ${NOBODY}) as unchanged,
       (select count(*) from document where user_id = $userId and not exists (select 1 from staged_document s where ${SAME}))
         + (select count(*) from (select ref, instant, digest from stored where goes or not ${IS_KEPT} except select * from wanted)) as removed`,
  )
  const changes = [
    // Staged positions begin with 1 and have no gaps. A shift lets the documents that stay keep their positions. The detour
    // prevents collisions of staged documents.
    `with shifted as (
       select s.key, max(coalesce(d.key & ${MAX_DOCUMENT_POSITION}, 0) - (s.key & ${MAX_DOCUMENT_POSITION}))
           over (partition by s.kind order by s.key) as shift
         from staged_document s left join document d on d.user_id = $userId and d.kind = s.kind and d.id = s.id
         where s.owner = $owner)
     update staged_document set key = staged_document.key + shift + ${DETOUR} from shifted
       where staged_document.key = shifted.key and shift > 0
         and not exists (select 1 from shifted where (key & ${MAX_DOCUMENT_POSITION}) + shift > ${LAST_KEPT_POSITION})`,
    // Documents that stay first give up their references and positions: otherwise they would collide with each other.
    `delete from document where user_id = $userId and not exists (select 1 from staged_document s where ${SAME})`,
    `update document set ref = ${DETOUR_REF} where user_id = $userId and kind = 'project'
       and exists (select 1 from staged_document s where ${SAME} and s.ref <> document.ref)`,
    `update document set key = key + ${DETOUR} where user_id = $userId
       and exists (select 1 from staged_document s where ${SAME} and ${KEY} <> document.key)`,
    `update document set key = ${KEY}, ref = s.ref, text = s.text from staged_document s
       where document.user_id = $userId and ${SAME}
         and (${KEY} <> document.key or s.ref is not document.ref or s.text <> document.text)`,
    `insert into document (key, user_id, kind, id, ref, text)
       select ${KEY}, $userId, kind, id, ref, text from staged_document s where owner = $owner
         and not exists (select 1 from document d where d.user_id = $userId and d.kind = s.kind and d.id = s.id)
       order by s.key`,
    `delete from export where user_id = $userId and (ref, instant, digest) not in (${EXPORTS_OF}) and not ${IS_KEPT}`,
    `insert or ignore into export (id, user_id, ref, created_at, instant, digest, byte_length, element_count)
       select id, $userId, ref, created_at, instant, digest, byte_length, element_count
       from staged_export where owner = $owner and digest is not null order by id`,
    `delete from staged_export where owner = $owner and id in (select id from export where user_id = $userId)`,
    // The staged elements of exports that existed already are removed later, in pieces, or together with the user.
    `update staged_export set owner = null, user_id = $userId, staged_at = ${DROPPED_AT} where owner = $owner`,
    'delete from staged_document where owner = $owner',
    'delete from staged_user where id = $owner',
  ].map((sql) => writer.prepare<SwapParameters>(sql))

  return (owner, email, { isDryRun, keepsExports = false }) => {
    const known = userId.get(email)
    const parameters = { owner, keepsExports: Number(keepsExports) }
    const found = counts.get({ ...parameters, userId: known ?? NOBODY })
    if (!found) throw new Error('the changes of a replacement could not be counted')
    if (!isDryRun) {
      const id = known ?? Number(addUser.run(email).lastInsertRowid)
      for (const change of changes) change.run({ ...parameters, userId: id })
    }
    return { email, ...found }
  }
}
