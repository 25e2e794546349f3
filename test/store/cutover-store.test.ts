// Tests that a store whose database has moved continues in the database it moved to, and in no other.
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { StoreMovedError } from '../../src/store/cutover/contract.ts'
import { withCutover } from '../../src/store/cutover/cutover-store.ts'
import { ANA, BEN, MADE, NOW, put } from '../contract/values.ts'
import { openTestStore } from '../support/sqlite-store.ts'
import { toSuccessor } from '../support/successor.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

async function open() {
  const path = join(temporaryDirectory(), 'store.db')
  return openTestStore(path)
}

test('a store that moved elsewhere writes nothing into its configured successor', async () => {
  const [here, elsewhere, other] = [await open(), await open(), await open()]
  onTestFinished(() => elsewhere[Symbol.asyncDispose]())
  await using store = withCutover(here, { next: toSuccessor(other) })
  await store.applyChanges([put()])
  const move = { id: 'm1', other: (await elsewhere.moveState()).identity }
  await here.beginMove(move)
  await here.fenceWrites('m1', 60_000)
  expect(await here.finishMove('m1')).toBe(true)
  await expect(async () => store.applyChanges([put()])).rejects.toBeInstanceOf(StoreMovedError)
  expect(await other.usersAfter('', 10)).toEqual([])
})

test('a write waits while its database is closed, then takes effect once, in the database then in charge', async () => {
  for (const moves of [true, false]) {
    const [here, other] = [await open(), await open()]
    let [switches, closings] = [0, 0]
    const first = {
      ...here,
      [Symbol.asyncDispose]() {
        closings += 1
        return here[Symbol.asyncDispose]()
      },
    }
    const store = withCutover(first, {
      next: toSuccessor(other),
      onSwitch: () => {
        switches += 1
      },
    })
    await store.applyChanges([put()])
    const [mine, theirs] = [await here.moveState(), await other.moveState()]
    await other.reserveTarget({ id: 'm1', other: mine.identity })
    await here.beginMove({ id: 'm1', other: theirs.identity })
    await here.fenceWrites('m1', 60_000)
    const writes = [
      store.applyChanges([put({ email: BEN })]),
      store.addClient({ name: 'c', secretHash: 'h', domains: ['*'], scopes: ['login'], perMinute: 1, createdAt: NOW }),
    ]
    // Reads continue in the meantime, without waiting.
    expect(store.usersAfter('', 10)).toEqual([{ id: 1, email: ANA }])
    expect(await store.usersAfter('', 10)).toHaveLength(1)
    await other.completeTarget('m1')
    if (moves) expect(await here.finishMove('m1')).toBe(true)
    else await here.unfenceWrites('m1')
    expect(await Promise.all(writes)).toEqual([['added'], true])
    const users = moves ? [BEN] : [ANA, BEN]
    expect((await store.usersAfter('', 10)).map(({ email }) => email)).toEqual(users)
    expect([switches, (await other.moveState()).phase]).toEqual(moves ? [1, 'live'] : [0, 'filled'])
    // The first database is closed once it owes nobody an answer.
    expect(closings).toBe(moves ? 1 : 0)
    if (moves) {
      await store.ping()
      expect(await store.applyChanges([put({ email: BEN })])).toEqual(['unchanged'])
    }
    await store[Symbol.asyncDispose]()
    expect(closings).toBe(1)
    for (const each of [here, other]) await expect(async () => each.ping()).rejects.toThrow()
  }
})

test('the first database is closed only after the answers that it still owes', async () => {
  const [here, other] = [await open(), await open()]
  const [mine, theirs] = [await here.moveState(), await other.moveState()]
  const [late, refused] = [Promise.withResolvers<[]>(), Promise.withResolvers<[]>()]
  const closed = Promise.withResolvers<void>()
  let closings = 0
  const first = {
    ...here,
    restCallDays: () => late.promise,
    clients: () => refused.promise,
    async [Symbol.asyncDispose]() {
      closings += 1
      await here[Symbol.asyncDispose]()
      closed.resolve()
    },
  }
  await using store = withCutover(first, { next: toSuccessor(other) })
  const [owed, clients] = [store.restCallDays('', 1), store.clients()]
  await other.reserveTarget({ id: 'm1', other: mine.identity })
  await other.completeTarget('m1')
  await here.beginMove({ id: 'm1', other: theirs.identity })
  await here.fenceWrites('m1', 60_000)
  await here.finishMove('m1')
  await Promise.all([store.applyChanges([put()]), store.applyChanges([put({ email: BEN })])])
  // A read that the first database refuses afterwards goes to the other one.
  refused.reject(new StoreMovedError('it moved'))
  expect(await clients).toEqual([])
  expect(closings).toBe(0)
  late.resolve([])
  expect(await owed).toEqual([])
  await closed.promise
  expect(await store.usersAfter('', 10)).toHaveLength(2)
  expect(closings).toBe(1)
})

test('an import that a move leaves behind is told that the database has moved, whatever it has staged', async () => {
  const [here, other] = [await open(), await open()]
  await using store = withCutover(here, { next: toSuccessor(other) })
  await store.beginReplacement('r1', NOW)
  await store.applyChanges([{ type: 'stageExport', stage: 's1', email: ANA, ref: 'r', ...MADE, now: NOW }])
  const [mine, theirs] = [await here.moveState(), await other.moveState()]
  await other.reserveTarget({ id: 'm1', other: mine.identity })
  await here.beginMove({ id: 'm1', other: theirs.identity })
  await here.fenceWrites('m1', 60_000)
  expect(await here.finishMove('m1')).toBe(true)
  const steps = [
    async () => store.applyChanges([{ type: 'stageElements', stage: 's1', position: 1, texts: ['1'], now: NOW }]),
    async () => store.stageReplacement('r1', [{ type: 'stageUser', email: BEN }], NOW),
  ]
  for (const step of steps) await expect(step).rejects.toThrow('or the database has moved: run the import again')
})

test('a store without a successor reports that it moved', async () => {
  const here = await open()
  await using store = withCutover(here, { next: null })
  await here.beginMove({ id: 'm1', other: 'elsewhere' })
  await here.fenceWrites('m1', 60_000)
  expect(await here.finishMove('m1')).toBe(true)
  await expect(async () => store.applyChanges([put()])).rejects.toBeInstanceOf(StoreMovedError)
})

test('a store whose move has not ended stays in its database', async () => {
  const [here, other] = [await open(), await open()]
  await using store = withCutover(here, { next: toSuccessor(other) })
  await here.beginMove({ id: 'm1', other: (await other.moveState()).identity })
  await store.applyChanges([put()])
  expect(await other.usersAfter('', 10)).toEqual([])
  expect(await here.usersAfter('', 10)).toHaveLength(1)
})
