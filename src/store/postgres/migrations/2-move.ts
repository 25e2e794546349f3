// The PostgreSQL schema, entry 2: the move state and the notes of changes during a move.
// The migration is released, so it holds literal values instead of program constants, which may change.

/**
 * Advisory lock that writes share during a move and that the fence takes alone. The triggers below use the same number.
 */
export const MOVE_LOCK = 0x57_53_47_4d

export const MOVE = `
-- One row: where this database stands, and towards which other. What is changed during a move is noted, and while it is
-- closed refused, by triggers that are there only as long as the move is (see moves.ts).
create table workspace_gateway.move (
  one integer primary key default 1 check (one = 1),
  identity text not null default replace(gen_random_uuid()::text, '-', ''),
  phase text not null default 'live'
    check (phase in ('live', 'filling', 'filled', 'copying', 'closed', 'moved')),
  move_id text,
  other text,
  closed_until bigint not null default 0
);
insert into workspace_gateway.move default values;
-- Several notes of one change do no harm, and nobody waits for whoever else makes one.
create table workspace_gateway.move_change (kind text not null, key text not null);

create function workspace_gateway.note_move_change() returns trigger language plpgsql as $$
begin
  insert into workspace_gateway.move_change
    select distinct tg_table_name, key from unnest(array[to_jsonb(old)->>tg_argv[0], to_jsonb(new)->>tg_argv[0]]) as key
    where key is not null;
  return null;
end $$;

-- Closing waits for the shared lock of every write that is under way: each is noted before, or refused after.
create function workspace_gateway.guard_move() returns trigger language plpgsql as $$
declare
  found_phase text;
  is_closed boolean;
begin
  perform pg_advisory_xact_lock_shared(1465075533);
  if current_setting('transaction_isolation') <> 'read committed' then
    -- An older snapshot would not see the closing: this fails then.
    perform 1 from workspace_gateway.move for share;
  end if;
  select phase, closed_until between now.ms and now.ms + 60000 into found_phase, is_closed
    from workspace_gateway.move, (select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms) now;
  if found_phase = 'closed' and not is_closed then
    update workspace_gateway.move set phase = 'copying' where phase = 'closed';
    select phase into found_phase from workspace_gateway.move;
  end if;
  if found_phase = 'moved' then
    raise exception using errcode = 'WG002', message = 'the database has moved to another one: use the URL of that, or name it with --database-next';
  elsif found_phase = 'closed' then
    raise exception using errcode = 'WG001', message = 'the database is being moved: writes wait for a moment';
  elsif tg_op = 'TRUNCATE' and tg_table_name in ('user', 'session', 'signing_key') then
    raise exception 'not while the database is being moved';
  end if;
  return null;
end $$;
`
