// node document-writer.ts DATABASE USERS PER_SECOND: changes documents in an SQLite database, one per commit, until
// SIGTERM.
import Database from 'better-sqlite3'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { emailOf } from '../data/workspaces.ts'
import { createZipf } from '../load/plan.ts'

const [path = '', users = '', perSecond = ''] = process.argv.slice(2)
const database = new Database(path)
database.pragma('synchronous = FULL')
const random = seededRandom(process.pid)
const user = createZipf(Number(users), random)
const firstProject = database
  .prepare<[string], number>(
    `select min(key) from document where user_id = (select id from user where email = ?) and kind = 'project'`,
  )
  .pluck()
const change = database.prepare<[string, number]>(
  `update document set text = json_set(text, '$.updatedAt', ?) where key = ?`,
)

let written = 0
setInterval(() => {
  const { changes } = change.run(new Date().toISOString(), firstProject.get(emailOf(user())) ?? 0)
  if (changes !== 1) throw new Error('no document was changed')
  written += 1
}, 1_000 / Number(perSecond))

process.on('SIGTERM', () => {
  process.stdout.write(`${written}\n`, () => process.exit())
})
