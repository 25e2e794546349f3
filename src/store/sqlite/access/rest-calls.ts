// Stores the REST-call ledger in SQLite.
import type { Database } from 'better-sqlite3'
import { AUDIT_WRITER } from '../../audit-contract.ts'
import { type KnownClient, type RestCalls, type RestCallVerbs, withinBounds } from '../../rest-call-contract.ts'
import type { GroupCommit } from '../engine/group-commit.ts'
import type { ReadTransaction } from '../engine/read-transaction.ts'
import { createAdvanceWriter } from './batch-writers.ts'

export function createRestCalls(
  reader: Database,
  turn: ReadTransaction,
  writer: Database,
  commits: GroupCommit,
): RestCallVerbs {
  const days = reader
    .prepare<[string, number], string>('select distinct day from rest_call where day > ? order by day limit ?')
    .pluck()
  const ofDay = reader.prepare<[string], RestCalls>(
    'select day, route, client, count, last_seen as lastSeen from rest_call where day = ? order by route, client',
  )
  const advance = createAdvanceWriter(writer)
  const known = writer.prepare<[string], KnownClient>('select distinct day, client from rest_call where day = ?')
  const add = writer.prepare<[string, string, string, number, number]>(
    `insert into rest_call (day, route, client, count, last_seen) values (?, ?, ?, ?, ?)
     on conflict (day, route, client) do update
     set count = count + excluded.count, last_seen = max(last_seen, excluded.last_seen)`,
  )
  const remove = writer.prepare<[string, number]>(
    `delete from rest_call where (day, route, client) in
     (select day, route, client from rest_call where day < ? order by day limit ?)`,
  )
  const removeWriters = writer.prepare<[string, number]>(
    `delete from rest_call_writer where writer in (
       select writer from rest_call_writer where day < ? and substr(writer, 1, ${AUDIT_WRITER.length}) <> '${AUDIT_WRITER}' limit ?)`,
  )

  return {
    addRestCalls: ({ writer: name, sequence, calls }) =>
      commits.addUnsynced(() => {
        const daysOfCalls = [...new Set(calls.map(({ day }) => day))].sort()
        if (!advance(name, sequence, daysOfCalls.at(-1) ?? '')) return
        for (const call of withinBounds(
          calls,
          daysOfCalls.flatMap((day) => known.all(day)),
        )) {
          add.run(call.day, call.route, call.client, call.count, call.lastSeen)
        }
      }),
    restCallDays(after, limit) {
      return turn.readNow(() => days.all(after, limit))
    },
    restCallsOf(asked) {
      return turn.readNow(() => [...new Set(asked)].sort().flatMap((day) => ofDay.all(day)))
    },
    removeRestCalls: (before, limit) =>
      commits.addUnsynced(() => {
        removeWriters.run(before, limit)
        return remove.run(before, limit).changes
      }),
  }
}
