// The memory that a move takes for users with many large documents.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { put } from '../contract/values.ts'
import { run } from '../support/command-line.ts'
import { openTestStore } from '../support/sqlite-store.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const USERS = 3
const DOCUMENTS = 60
const HEAP_MB = 96

test('a move holds only a part of the documents of a user in memory, however large they are', async () => {
  const [from, to] = [join(temporaryDirectory(), 'from.db'), join(temporaryDirectory(), 'to.db')]
  {
    await using store = await openTestStore(from)
    for (let user = 0; user < USERS; user += 1) {
      for (let index = 0; index < DOCUMENTS; index += 1) {
        const text = JSON.stringify({ text: `${user} ${index}`.padEnd(1_000_000, '.') })
        await store.applyChanges([
          put({ email: `user-${user}@example.com`, id: `p-${index}`, ref: `r-${index}`, text }),
        ])
      }
    }
  }
  // All documents together are 180 MB.
  const env = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` }
  const moved = await run(['move', '--from', `file:${from}`, '--to', `file:${to}`], { env })
  expect([moved.exitCode, moved.stderr]).toEqual([0, ''])
  expect(moved.stdout).toContain(`moved ${USERS} users, ${USERS * DOCUMENTS} documents`)
})
