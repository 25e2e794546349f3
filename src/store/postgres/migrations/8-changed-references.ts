// The PostgreSQL schema, entry 8: exports follow a project whose reference changes.

export const CHANGED_REFERENCES = `
-- Whoever changes it. Not while a move fills this database: that says itself what is where. Row by row, in the order in which
-- the references became free.
create function workspace_gateway.project_reference_changed() returns trigger language plpgsql as $$
begin
  if (select phase from workspace_gateway.move) = 'filling' then
    return null;
  end if;
  -- What is there already under the new reference.
  delete from workspace_gateway.export e
    where e.user_id = old.user_id and workspace_gateway.key_of(e.ref) = workspace_gateway.key_of(old.ref)
      and exists (select 1 from workspace_gateway.export there
        where there.user_id = old.user_id and workspace_gateway.key_of(there.ref) = workspace_gateway.key_of(new.ref)
          and (there.instant, there.digest) = (e.instant, e.digest));
  update workspace_gateway.export set ref = new.ref
    where user_id = old.user_id and workspace_gateway.key_of(ref) = workspace_gateway.key_of(old.ref);
  update workspace_gateway.staged_export set ref = new.ref
    where user_id = old.user_id and ref = old.ref and owner is null;
  return null;
end $$;
create trigger project_reference_changed after update of ref on workspace_gateway.document for each row
  when (old.kind = 'project' and new.user_id = old.user_id and new.ref <> old.ref)
  execute function workspace_gateway.project_reference_changed();
create index staged_export_user on workspace_gateway.staged_export (user_id) where owner is null;

-- That trigger may change the reference of an export; nobody else may, and nothing else of it.
drop trigger export_immutable on workspace_gateway.export;
create trigger export_immutable before update on workspace_gateway.export for each row
  when (pg_trigger_depth() = 0
    or (new.user_id, new.id, new.created_at, new.instant, new.digest, new.byte_length, new.element_count)
      is distinct from (old.user_id, old.id, old.created_at, old.instant, old.digest, old.byte_length, old.element_count))
  execute function workspace_gateway.refuse();
create trigger export_emptied before truncate on workspace_gateway.export
  for each statement execute function workspace_gateway.refuse();
`
