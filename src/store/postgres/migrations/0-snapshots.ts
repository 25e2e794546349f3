// Adapts databases of two early schema snapshots (versions 1 and 3) so that the released migrations apply to them.

/** For version 1: adds stamps to a database that has none. */
export const STAMPS = `
do $snapshot$
begin
  if exists (select 1 from information_schema.columns
    where table_schema = 'workspace_gateway' and table_name = 'user' and column_name = 'stamp') then
    return;
  end if;
  alter table workspace_gateway.user add column stamp text not null default gen_random_uuid()::text;
  create or replace function workspace_gateway.move_revision() returns trigger language plpgsql as $$
  begin
    if tg_op = 'TRUNCATE' then
      update workspace_gateway.user set revision = revision + 1, stamp = gen_random_uuid()::text;
    elsif tg_op = 'UPDATE' then
      update workspace_gateway.user set revision = revision + 1, stamp = gen_random_uuid()::text
        where id in (select user_id from changed union select user_id from before);
    else
      update workspace_gateway.user set revision = revision + 1, stamp = gen_random_uuid()::text
        where id in (select user_id from changed);
    end if;
    return null;
  end $$;
  create or replace function workspace_gateway.user_renamed() returns trigger language plpgsql as $$
  begin
    new.revision := greatest(new.revision, old.revision + 1);
    new.stamp := gen_random_uuid()::text;
    return new;
  end $$;
  create or replace function workspace_gateway.export_removed() returns trigger language plpgsql as $$
  begin
    delete from workspace_gateway.export_element e using changed c where (e.user_id, e.export_id) = (c.user_id, c.id);
    update workspace_gateway.user set revision = revision + 1, stamp = gen_random_uuid()::text where id in (select user_id from changed);
    return null;
  end $$;
end $snapshot$`

/** For version 3: drops an index whose name entry 4 uses. */
export const NO_SESSION_EMAIL = 'drop index if exists workspace_gateway.session_email'
