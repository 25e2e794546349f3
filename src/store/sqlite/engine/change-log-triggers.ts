// The triggers that log changes and fence writes during a move away from an SQLite database. They exist only during the
// move, so that no other write pays for them.
import { CLOSED_MESSAGE, MAX_CLOSED_MS, MOVED_MESSAGE } from '../../cutover/contract.ts'
import { GUARDED_TABLES, NOTED_TABLES } from '../../cutover/watched-tables.ts'

const EVENTS = ['insert', 'update', 'delete']

/** Milliseconds since the epoch, as SQL that every version of the SQLite shell understands. */
export const NOW = `cast((julianday('now') - 2440587.5) * 86400000 as integer)`
/** Whether a closing is in force. The upper bound ends it if the clock was set back. */
export const IS_CLOSED = `(phase = 'closed' and closed_until between ${NOW} and ${NOW} + ${MAX_CLOSED_MS})`

const triggers = GUARDED_TABLES.flatMap((table) =>
  EVENTS.map((event) => ({ name: `move_guards_${event}_${table}`, sql: guard(table, event) })),
).concat(
  NOTED_TABLES.flatMap(({ table, key }) =>
    EVENTS.map((event) => ({ name: `move_notes_${event}_${table}`, sql: note(table, event, key) })),
  ),
)

export const ADD_TRIGGERS = triggers.map(({ name, sql }) => `create trigger if not exists ${name} ${sql};`).join('\n')
export const DROP_TRIGGERS = triggers.map(({ name }) => `drop trigger if exists ${name};`).join('\n')

/** Refuses the write, or ends a closing that has timed out. */
function guard(table: string, event: string): string {
  return `before ${event} on ${table} when (select phase in ('closed', 'moved') from move) begin
    select raise(abort, '${MOVED_MESSAGE}') from move where phase = 'moved';
    select raise(abort, '${CLOSED_MESSAGE}') from move where ${IS_CLOSED};
    update move set phase = 'copying' where phase = 'closed';
  end`
}

function note(table: string, event: string, key: string): string {
  const rows = [...(event === 'insert' ? [] : ['old']), ...(event === 'delete' ? [] : ['new'])]
  // Not "or ignore": the conflict clause of the outer statement overrides that of its triggers.
  const notes = rows.map(
    (row) => `insert into move_change select '${table}', ${row}.${key}
      where not exists (select 1 from move_change where (kind, key) = ('${table}', cast(${row}.${key} as text)));`,
  )
  return `after ${event} on ${table} begin
    ${notes.join('\n')}
  end`
}
