// A store whose database has moved goes on in the database it moved to, and in no other.
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { StoreMovedError } from '../../src/store/cutover/contract.ts'
import { withCutover } from '../../src/store/cutover/cutover-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { put } from '../contract/values.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

async function open() {
  const path = join(temporaryDirectory(), 'store.db')
  return openSqliteStore(path, {
    lockTimeoutMs: 5_000,
    onFatal(error: unknown) {
      throw error
    },
  })
}

test('one that moved elsewhere writes nothing into the database it is told to go on in', async () => {
  const [here, elsewhere, other] = [await open(), await open(), await open()]
  onTestFinished(() => elsewhere[Symbol.asyncDispose]())
  await using store = withCutover(here, { next: other })
  await store.applyChanges([put()])
  const move = { id: 'm1', other: (await elsewhere.moveState()).identity }
  await here.beginMove(move)
  await here.fenceWrites('m1', 60_000)
  expect(await here.finishMove('m1')).toBe(true)
  await expect(async () => store.applyChanges([put()])).rejects.toBeInstanceOf(StoreMovedError)
  expect(await other.usersAfter('', 10)).toEqual([])
})

test('one that has nowhere to go says that it moved', async () => {
  const here = await open()
  await using store = withCutover(here, { next: null })
  await here.beginMove({ id: 'm1', other: 'elsewhere' })
  await here.fenceWrites('m1', 60_000)
  expect(await here.finishMove('m1')).toBe(true)
  await expect(async () => store.applyChanges([put()])).rejects.toBeInstanceOf(StoreMovedError)
})

test('one whose move has not ended stays where it is', async () => {
  const [here, other] = [await open(), await open()]
  await using store = withCutover(here, { next: other })
  await here.beginMove({ id: 'm1', other: (await other.moveState()).identity })
  await store.applyChanges([put()])
  expect(await other.usersAfter('', 10)).toEqual([])
  expect(await here.usersAfter('', 10)).toHaveLength(1)
})
