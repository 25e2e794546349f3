// The size of the write-ahead log: when it is reported, and what happens when another program makes the checkpoints.
import { statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createLogSizeCheck } from '../src/cli/serving/watch-log-size.ts'
import { openStore } from '../src/store/open-store.ts'
import { put } from './contract/values.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'

test('a growing log is reported once, and again whenever it has doubled', async () => {
  const path = join(temporaryDirectory(), 'workspace.db')
  const warned: number[] = []
  const check = createLogSizeCheck(path, (bytes) => warned.push(bytes), 1_000)
  await check()
  writeFileSync(`${path}-wal`, '')
  for (const size of [999, 1_000, 1_999, 2_000, 9_000, 10_000, 10, 1_200]) {
    truncateSync(`${path}-wal`, size)
    await check()
  }
  expect(warned).toEqual([1_000, 2_000, 9_000, 1_200])
})

test('with external checkpoints a store makes no checkpoint, and says so after a removal', async () => {
  const options = { lockTimeoutMs: 100, connectTimeoutMs: 0, statementTimeoutMs: 0, poolSize: 1, onFatal() {} }
  const sizes: number[] = []
  for (const checkpoints of ['own', 'external'] as const) {
    const path = join(temporaryDirectory(), 'workspace.db')
    await using store = await openStore(`file:${path}`, { ...options, checkpoints })
    for (let n = 0; n < 40; n += 1) {
      await store.applyChanges([put({ id: `${n}`, ref: `${n}`, text: `"${'x'.repeat(400_000)}"` })])
    }
    expect(await store.flushRemovals()).toBe(checkpoints === 'own' ? 'flushed' : 'external')
    sizes.push(statSync(`${path}-wal`).size)
  }
  expect(sizes).toEqual([0, expect.any(Number)])
  expect(sizes[1]).toBeGreaterThan(16_000_000)
})

test('with external checkpoints, removing a key reports that it is still in the files, and does not truncate the log', async () => {
  const options = { lockTimeoutMs: 100, connectTimeoutMs: 0, statementTimeoutMs: 0, poolSize: 1, onFatal() {} }
  const path = join(temporaryDirectory(), 'workspace.db')
  await using store = await openStore(`file:${path}`, { ...options, checkpoints: 'external' })
  const [old, young] = ['a', 'b'].map((kid, at) => ({ kid, privateJwk: kid.repeat(200), createdAt: at }))
  if (!old || !young) throw new Error('there are two keys')
  await store.addSigningKey(old, null)
  await store.addSigningKey(young, 'a')
  const size = () => statSync(`${path}-wal`).size
  const before = size()
  await expect(Promise.resolve(store.removeSigningKey('a'))).rejects.toThrow(/checkpoints are left to another program/)
  expect((await store.signingKeys()).map(({ kid }) => kid)).toEqual(['b'])
  expect(size()).toBeGreaterThan(before)
})
