// Runs each SQL text that it is sent on a database file, and replies to each with null or with the error.
import SqliteDatabase from 'better-sqlite3'

const database = new SqliteDatabase(process.argv[2], { fileMustExist: true })

process.on('message', (sql: string) => {
  try {
    database.exec(sql)
    process.send?.(null)
  } catch (error) {
    process.send?.(String(error))
  }
})
