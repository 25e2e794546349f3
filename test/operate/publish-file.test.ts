// Tests that a backup appears together with its digest, whoever else makes a backup of the same name.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { publishFile, verifyDigest } from '../../src/cli/backup/publish-file.ts'
import { MachineError } from '../../src/errors.ts'
import { canMount, smallDisk } from '../support/faults.ts'
import { createWorkspace } from '../support/import-workspace.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

const newPath = () => join(temporaryDirectory(), 'backup.db')
const containing = (text: string) => (part: string) => writeFile(part, text)

/** Expects `path` to have the whole of `text`, and nothing of other writers to be left. */
async function expectWhole(path: string, text: string): Promise<void> {
  expect(readFileSync(path, 'utf8')).toBe(text)
  expect(await verifyDigest(path)).toBe(true)
  expect(readdirSync(dirname(path)).toSorted()).toEqual([basename(path), `${basename(path)}.sha256`])
  execFileSync('sha256sum', ['--check', '--strict', '--quiet', `${basename(path)}.sha256`], { cwd: dirname(path) })
}

test('a second writer changes neither the file nor its digest', async () => {
  const path = newPath()
  const second = publishFile(path, async (part) => {
    await publishFile(path, containing('first'))
    await writeFile(part, 'second')
  })
  await expect(second).rejects.toThrow(
    new MachineError(`${path} exists already and is not overwritten: name another file`),
  )
  await expectWhole(path, 'first')
})

test('one of many concurrent writers makes the file, with its own digest', async () => {
  for (let round = 0; round < 20; round += 1) {
    const path = newPath()
    const texts = Array.from({ length: 8 }, (_, n) => `${n}`)
    const outcomes = await Promise.allSettled(texts.map((text) => publishFile(path, containing(text))))
    const won = texts.filter((_, n) => outcomes[n]?.status === 'fulfilled')
    expect(won.length).toBe(1)
    await expectWhole(path, won.join())
  }
})

test('a digest that is left of a missing file is replaced', async () => {
  const path = newPath()
  writeFileSync(`${path}.sha256`, `${'0'.repeat(64)}  backup.db\n`)
  await publishFile(path, containing('new'))
  await expectWhole(path, 'new')
})

test('a backup that cannot be written fails with one sentence and leaves nothing', async () => {
  const workspace = createWorkspace()
  await workspace.load(SMALL_WORLD)
  const [file, dangling] = [workspace.write('file', ''), workspace.path('dangling')]
  symlinkSync('nowhere', dangling)
  const before = readdirSync(workspace.directory)
  const refusals: readonly (readonly [path: string, reason: RegExp])[] = [
    ['', /^name a file for the backup\n$/],
    [dangling, /dangling exists already and is not overwritten: name another file\n$/],
    [join(file, 'x'), /^cannot write .*ENOTDIR.*\n$/],
    [workspace.path('x'.repeat(250)), /^cannot write .*ENAMETOOLONG.*\n$/],
  ]
  for (const [path, reason] of refusals) {
    const { exitCode, stdout, stderr } = await workspace.run('backup', path)
    expect([exitCode, stdout, stderr]).toEqual([2, '', expect.stringMatching(reason)])
    expect(stderr.trim().split('\n').length).toBe(1)
  }
  expect(readdirSync(workspace.directory)).toEqual(before)
})

test('a backup of a damaged database fails with one sentence', async () => {
  const workspace = createWorkspace()
  await workspace.load(SMALL_WORLD)
  const database = workspace.path('workspace.db')
  const bytes = readFileSync(database)
  // This is the number of unused pages. No read notices that it is wrong.
  bytes.writeUInt32BE(bytes.readUInt32BE(36) + 1, 36)
  workspace.write('workspace.db', bytes)
  const { exitCode, stderr } = await workspace.run('backup', workspace.path('backup.db'))
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^cannot back up .* the file is damaged: .*\n$/)])
  expect(stderr.trim().split('\n').length).toBe(1)
})

describe.skipIf(!canMount())('a backup on a disk without room', () => {
  test('fails with one sentence and leaves nothing', async () => {
    const disk = smallDisk(1_048_576)
    const workspace = createWorkspace()
    await workspace.load(
      [...Array(400).keys()]
        .map((id) => documentLine('template', ANA, `{"id":${id},"text":"${'x'.repeat(4_000)}"}`))
        .join(''),
    )
    const { exitCode, stderr } = await workspace.run('backup', join(disk.path, 'backup.db'))
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^cannot back up .* is full\n$/)])
    expect(readdirSync(disk.path)).toEqual([])
  })
})

test.each(['new\nline', 'back\\slash', 'return\r', 'all\\of\r\nthem'])(
  'sha256sum and the gateway both read the digest of a name that is escaped: %j',
  async (name) => {
    const path = join(temporaryDirectory(), name)
    await publishFile(path, containing('text'))
    await expectWhole(path, 'text')
    writeFileSync(path, 'changed')
    await expect(verifyDigest(path)).rejects.toThrow('does not match the digest')
  },
)
