// The contract of moves for those who are at work meanwhile, run on each adapter.
import { beforeEach, describe, expect, test } from 'vitest'
import type { MigratableStore } from '../../src/store/cutover/contract.ts'
import { withCutover } from '../../src/store/cutover/cutover-store.ts'
import type { OpenedForMoving } from './moving.ts'
import { NOW, newSession } from './values.ts'

const LONG = 30_000

export function describeCutover(name: string, open: () => Promise<OpenedForMoving>): void {
  describe(`clients at work while ${name} is moved`, () => {
    let store: MigratableStore
    let reopen: OpenedForMoving['reopen']

    beforeEach(async () => {
      const opened = await open()
      store = opened.store
      reopen = opened.reopen
      return () => store[Symbol.asyncDispose]()
    })

    test('every login is answered, and the limit of sessions holds, however often writes are stopped', async () => {
      const served = withCutover(await reopen(), { next: null })
      await store.beginMove({ id: 'm1', other: 'elsewhere' })
      let isOver = false
      let next = Promise.withResolvers<void>()
      const tell = () => {
        next.resolve()
        next = Promise.withResolvers()
      }
      const mover = (async () => {
        while (!isOver) {
          await store.fenceWrites('m1', LONG)
          await store.unfenceWrites('m1')
          // Other logins are in the middle of theirs then.
          if (!isOver) await next.promise
        }
      })()
      const emails = Array.from({ length: 6 }, (_, index) => `user-${index}@example.com`)
      const logins = emails.map(async (email) => {
        // Each login exceeds half of what its user may have, so that it looks for older sessions.
        for (let count = 0; count < 60; count += 1) {
          await served.addSessions([newSession({ email })], 2)
          tell()
        }
      })
      try {
        await Promise.all(logins)
      } finally {
        isOver = true
        await Promise.allSettled(logins)
        tell()
        await mover
        await served[Symbol.asyncDispose]()
      }
      for (const email of emails) expect(await store.sessionsOf(email, NOW, 9), email).toHaveLength(2)
    })

    test('a session that is added once more stays as it is', async () => {
      const session = newSession()
      await store.addSessions([session], 2)
      expect(await store.addSessions([session], 2)).toEqual([])
      expect(await store.sessionsById([session.id])).toEqual([
        { ...session, refreshHash: Buffer.from(session.refreshHash) },
      ])
    })
  })
}
