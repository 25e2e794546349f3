// The files of an open database: what SQLite does to them is no fault, what anybody else does is.
import { appendFileSync, copyFileSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  watchCopiedFiles,
  watchDatabaseFiles,
  watchReadFile,
} from '../../src/store/sqlite/engine/faults/database-files.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const ROWS = 400

/** In WAL mode, with everything in its file. */
function open() {
  const path = join(temporaryDirectory(), 'watched.db')
  const database = new Database(path)
  onTestFinished(() => {
    database.close()
  })
  database.pragma('journal_mode = WAL')
  database.pragma('wal_autocheckpoint = 0')
  database.exec('create table note (text)')
  const fill = () => {
    const insert = database.prepare('insert into note values (?)')
    database.transaction(() => {
      for (let row = 0; row < ROWS; row += 1) insert.run('x'.repeat(3_000))
    })()
  }
  const checkpoint = () => database.pragma('wal_checkpoint(TRUNCATE)')
  fill()
  checkpoint()
  return { path, database, fill, checkpoint, sizeOf: (name: string) => statSync(name).size }
}

describe('a connection that is opened beside others', () => {
  test('is told of a -wal that was cut short under them: it would write behind the hole', () => {
    const { path, database, fill } = open()
    fill()
    watchDatabaseFiles(path, database)
    const second = new Database(path)
    onTestFinished(() => {
      second.close()
    })
    expect(() => watchDatabaseFiles(path, second)).not.toThrow()
    // The end of it, so that what is read to open the database is there.
    truncateSync(`${path}-wal`, statSync(`${path}-wal`).size - 100_000)
    expect(() => watchDatabaseFiles(path, second)).toThrow(/watched\.db-wal was cut short while another process/)
  })
})

describe('a database that is written', () => {
  test('grows, is emptied and made smaller by SQLite without an objection', () => {
    const { path, database, fill, checkpoint, sizeOf } = open()
    const { assertInPlace } = watchDatabaseFiles(path, database)
    const full = sizeOf(path)
    const steps = [
      fill,
      assertInPlace,
      checkpoint,
      () => database.exec('delete from note'),
      () => database.exec('vacuum'),
      assertInPlace,
      checkpoint,
      assertInPlace,
      fill,
      checkpoint,
    ]
    for (const step of steps) {
      step()
      expect(assertInPlace).not.toThrow()
    }
    expect(sizeOf(path)).toBeLessThanOrEqual(full)
    database.exec('delete from note; vacuum')
    checkpoint()
    expect(sizeOf(path)).toBeLessThan(full)
    expect(assertInPlace).not.toThrow()
  })

  test('is made smaller and written to before anybody looks, without an objection', () => {
    const { path, database, checkpoint, sizeOf } = open()
    const { assertInPlace } = watchDatabaseFiles(path, database)
    const full = sizeOf(path)
    database.exec('delete from note; vacuum')
    checkpoint()
    database.exec("insert into note values ('in the log only')")
    expect(sizeOf(path)).toBeLessThan(full)
    expect(assertInPlace).not.toThrow()
  })

  test.each(['', '-wal'])('is missed when its file%s was deleted, or replaced', (suffix) => {
    for (const change of ['delete', 'replace'] as const) {
      const { path, database, fill } = open()
      fill()
      const { assertInPlace } = watchDatabaseFiles(path, database)
      expect(assertInPlace).not.toThrow()
      const file = `${path}${suffix}`
      copyFileSync(file, `${file}.copy`)
      rmSync(file)
      if (change === 'replace') renameSync(`${file}.copy`, file)
      expect(assertInPlace).toThrow(change === 'delete' ? `${file} was deleted` : `${file} was replaced`)
    }
  })

  test.each(['', '-wal'])('is missed when its file%s was cut short, by a page', (suffix) => {
    for (const isInLog of [false, true]) {
      if (!isInLog && suffix !== '') continue
      const { path, database, fill } = open()
      if (isInLog) fill()
      const { assertInPlace } = watchDatabaseFiles(path, database)
      assertInPlace()
      truncateSync(`${path}${suffix}`, statSync(`${path}${suffix}`).size - 4_096)
      expect(assertInPlace).toThrow(`${path}${suffix} was cut short`)
    }
  })
})

test('a database that is read is missed when another file has its name, not when it is written to', () => {
  const { path, fill, checkpoint, database } = open()
  const { assertInPlace } = watchReadFile(path)
  fill()
  checkpoint()
  database.exec('delete from note; vacuum')
  checkpoint()
  expect(assertInPlace).not.toThrow()
  copyFileSync(path, `${path}.copy`)
  renameSync(`${path}.copy`, path)
  expect(assertInPlace).toThrow('replaced')
})

test('a database that was copied is missed at the first byte that is written to it, or beside it', () => {
  const { path } = open()
  const { assertInPlace } = watchCopiedFiles(path)
  expect(assertInPlace).not.toThrow()
  appendFileSync(`${path}-wal`, 'x')
  expect(assertInPlace).toThrow('was written to')
  const { assertInPlace: assertFile } = watchCopiedFiles(path)
  appendFileSync(path, 'x')
  expect(assertFile).toThrow('was written to')
  const { assertInPlace: assertThere } = watchCopiedFiles(path)
  rmSync(path)
  expect(assertThere).toThrow('was written to')
})
