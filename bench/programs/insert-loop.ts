// node insert-loop.ts FILE: the lower bound of an import. Inserts the same rows with their indexes in one transaction.
import Database from 'better-sqlite3'
import { DOCUMENTS, documentOf } from '../data/import-documents.ts'

const database = new Database(process.argv[2])
database.pragma('page_size = 8192')
database.pragma('journal_mode = WAL')
database.pragma('synchronous = FULL')
database.exec(`
  create table user (id integer primary key, email text not null unique);
  create table document (
    key integer primary key, user_id integer not null, kind text not null, id text not null, ref text, text text not null);
  create unique index document_id on document (user_id, kind, id);
  create unique index document_ref on document (user_id, ref);
`)
const addUser = database.prepare('insert into user (id, email) values (?, ?)')
const add = database.prepare(
  `insert into document (key, user_id, kind, id, ref, text) values ((? << 28) | (1 << 26) | ?, ?, 'project', ?, ?, ?)`,
)
database.exec('begin')
for (let index = 0; index < DOCUMENTS; index += 1) {
  const { user, position, email, id, ref, text } = documentOf(index)
  if (position === 1) addUser.run(user, email)
  add.run(user, position, user, id, ref, text)
}
database.exec('commit')
database.close()
