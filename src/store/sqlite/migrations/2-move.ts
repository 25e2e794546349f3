// The SQLite schema, entry 2: the state of a move, and the log of the changes during one.

export const MOVE = `
-- One row: where this database stands, and towards which other. What is changed during a move is noted, and while it is
-- closed refused, by triggers that are there only as long as the move is (see moves.ts).
create table move (
  one integer primary key check (one = 1),
  identity text not null,
  phase text not null default 'live'
    check (phase in ('live', 'filling', 'filled', 'copying', 'closed', 'moved')),
  move_id text,
  other text,
  closed_until integer not null default 0
) strict;
insert into move (one, identity) values (1, lower(hex(randomblob(16))));
create table move_change (kind text not null, key text not null, primary key (kind, key)) strict, without rowid;
`
