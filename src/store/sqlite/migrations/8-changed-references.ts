// The SQLite schema, entry 8: exports follow a project whose reference changes.

export const CHANGED_REFERENCES = `
-- Whoever changes it. Not while a move fills this database: that says itself what is where.
create trigger project_reference_changed after update of ref on document
  when old.kind = 'project' and new.user_id = old.user_id and new.ref <> old.ref
    and (select phase from move) <> 'filling' begin
  -- What is there already under the new reference. Not "or ignore": what a statement says of conflicts holds in its triggers too.
  delete from export where user_id = old.user_id and ref = old.ref and exists (
    select 1 from export there where there.user_id = old.user_id and there.ref = new.ref
      and (there.instant, there.digest) = (export.instant, export.digest));
  update export set ref = new.ref where user_id = old.user_id and ref = old.ref;
  update staged_export set ref = new.ref where user_id = old.user_id and ref = old.ref and owner is null;
end;
create index staged_export_user on staged_export (user_id) where owner is null;

-- An export goes from a reference that no project of the user has any more to one that a project has; nothing else of it changes.
drop trigger export_immutable;
create trigger export_immutable before update on export
  when (new.id, new.user_id, new.created_at, new.instant, new.digest, new.byte_length, new.element_count)
      is not (old.id, old.user_id, old.created_at, old.instant, old.digest, old.byte_length, old.element_count)
    or exists (select 1 from document where user_id = old.user_id and ref = old.ref)
    or not exists (select 1 from document where user_id = new.user_id and ref = new.ref) begin
  select raise(abort, 'an export is immutable: delete it and import another');
end;
-- A hand may do the same, with exports that wait for a project.
create trigger export_changed after update on export begin
  update user set revision = revision + 1, stamp = hex(randomblob(8)) where id = new.user_id;
end;
`
