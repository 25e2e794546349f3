// A user who is removed here by hand while being replaced fails alone.
import { expect, onTestFinished, test } from 'vitest'
import { openTemporaryFile } from '../../src/cli/import/import-source.ts'
import { IMPORT_OPTIONS } from '../../src/cli/options/import-options.ts'
import { parseOptions } from '../../src/cli/options/option.ts'
import { dumpUsers } from '../../src/import-export/dump.ts'
import { createRemoteClient } from '../../src/import-export/remote/client.ts'
import { moveIn } from '../../src/import-export/remote/move-in.ts'
import type { EditableStore } from '../../src/store/workspace-edits.ts'
import { openFollower } from '../support/follow.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { openTestStore } from '../support/sqlite-store.ts'
import { documentLine, exportLine } from '../support/workspaces.ts'

const EMAILS = ['ana@example.com', 'ben@example.com', 'carl@example.com']
const [, BEN = ''] = EMAILS
const USERS = EMAILS.map((email) => ({ email, login: email, label: email }))
const WORLD = EMAILS.map(
  (email) =>
    documentLine('project', email, '{"id":"p","ref":"site"}') +
    exportLine(email, { r: 'site', createdAt: '2026-01-01T00:00:00Z', elements: ['"e"'] }),
).join('')

/** A store, and a wrapper that removes ben once everything for him is staged, as often as asked for. */
async function openStores() {
  const store = await openTestStore()
  onTestFinished(() => store[Symbol.asyncDispose]())
  let removals = 0
  let ofBen = ''
  const interrupted: EditableStore = {
    ...store,
    stageReplacement(replacement, steps, now) {
      if (steps.some((step) => 'email' in step && step.email === BEN)) ofBen = replacement
      return store.stageReplacement(replacement, steps, now)
    },
    async swapReplacement(question) {
      if (removals > 0 && question.replacement === ofBen) {
        removals -= 1
        await store.removeUsers([BEN])
      }
      return store.swapReplacement(question)
    },
  }
  async function dump(): Promise<string> {
    await using snapshot = await store.openSnapshot()
    return (await Array.fromAsync(dumpUsers(snapshot))).join('')
  }
  return {
    interrupted,
    dump,
    removeOnce() {
      removals = 1
    },
  }
}

test('follow goes on with the others, and takes the removed user in again in the next round', async () => {
  await using server = await startPlainServer({ records: WORLD, hasEtags: true })
  const { interrupted, dump, removeOnce } = await openStores()
  await using follower = openFollower(server.url, interrupted)
  expect(await follower.round(USERS)).toMatchObject({ changed: 3, failed: 0 })
  const count = (await dump()).split('\n').length
  for (const { templates } of server.workspaces.values()) templates.push('{"id":"t"}')
  removeOnce()
  expect(await follower.round(USERS)).toMatchObject({ changed: 2, failed: 1, outage: null })
  expect(await dump()).not.toContain(BEN)
  expect(await follower.round(USERS)).toMatchObject({ changed: 1, unchanged: 2, failed: 0 })
  // One more template for each user; the export is there again too.
  expect((await dump()).split('\n').length).toBe(count + 3)
  expect(await follower.round(USERS)).toMatchObject({ unchanged: 3 })
})

test('import goes on with the others, and reports the user who failed', async () => {
  await using server = await startPlainServer({ records: WORLD })
  const { interrupted, dump, removeOnce } = await openStores()
  const { signal } = new AbortController()
  const options = {
    client: createRemoteClient(server.url, { headers: {}, maxOutageMs: 0, stop: signal }),
    store: interrupted,
    fields: parseOptions(IMPORT_OPTIONS, {}),
    openTemporaryFile,
    clock: Date.now,
    concurrency: 1,
    stop: signal,
    isReplacement: true,
    mayLoseLists: [],
    mayClear: [],
    mayEmptyWorkspace: false,
    mayLoseAllExports: false,
  }
  const told: string[] = []
  removeOnce()
  await moveIn(USERS, options, {
    async onDone({ email }, { type }) {
      told.push(`${email} ${type}`)
    },
    onFailed({ email }, { message }) {
      told.push(`${email}: ${message}`)
    },
    onLeft() {},
  })
  expect(told).toEqual([
    'ana@example.com changed',
    expect.stringMatching(/^ben@example\.com: the staged data is gone: one of its users was removed/),
    'carl@example.com changed',
  ])
  expect(await dump()).not.toContain(BEN)
})
