// Runs each SQL text it is sent on the file it was started with, and reports after each: null, or what went wrong.
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
