// A backup gets its name with its digest, whoever else makes one of that name.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { publishFile, requireDigest } from '../../src/cli/backup/publish-file.ts'
import { MachineError } from '../../src/errors.ts'
import { canMount, smallDisk } from '../support/faults.ts'
import { createWorkspace } from '../support/import-workspace.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

const newPath = () => join(temporaryDirectory(), 'backup.db')
const containing = (text: string) => (part: string) => writeFile(part, text)

/** Under `path` is the whole of `text`, and nothing is left of others. */
async function expectWhole(path: string, text: string): Promise<void> {
  expect(readFileSync(path, 'utf8')).toBe(text)
  await requireDigest(path)
  expect(readdirSync(dirname(path)).toSorted()).toEqual([basename(path), `${basename(path)}.sha256`])
  execFileSync('sha256sum', ['--check', '--strict', '--quiet', `${basename(path)}.sha256`], { cwd: dirname(path) })
}

test('who comes second changes neither the file nor its digest', async () => {
  const path = newPath()
  const second = publishFile(path, async (part) => {
    await publishFile(path, containing('first'))
    await writeFile(part, 'second')
  })
  await expect(second).rejects.toThrow(new MachineError(`${path} is there already, and is not written over`))
  await expectWhole(path, 'first')
})

test('of many at once one makes it, with its own digest', async () => {
  for (let round = 0; round < 20; round += 1) {
    const path = newPath()
    const texts = Array.from({ length: 8 }, (_, n) => `${n}`)
    const outcomes = await Promise.allSettled(texts.map((text) => publishFile(path, containing(text))))
    const won = texts.filter((_, n) => outcomes[n]?.status === 'fulfilled')
    expect(won.length).toBe(1)
    await expectWhole(path, won.join())
  }
})

test('a digest that was left of a file that is gone is replaced', async () => {
  const path = newPath()
  writeFileSync(`${path}.sha256`, `${'0'.repeat(64)}  backup.db\n`)
  await publishFile(path, containing('new'))
  await expectWhole(path, 'new')
})

test('what cannot be written is a sentence, and nothing of it is left', async () => {
  const workspace = createWorkspace()
  await workspace.load(SMALL_WORLD)
  const [file, dangling] = [workspace.write('file', ''), workspace.path('dangling')]
  symlinkSync('nowhere', dangling)
  const before = readdirSync(workspace.directory)
  const refusals: readonly (readonly [path: string, reason: RegExp])[] = [
    ['', /^name a file for the backup\n$/],
    [dangling, /dangling is there already, and is not written over\n$/],
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

test('a database that is damaged is a sentence', async () => {
  const workspace = createWorkspace()
  await workspace.load(SMALL_WORLD)
  const database = workspace.path('workspace.db')
  const bytes = readFileSync(database)
  // How many pages are unused: nothing that is read tells that this is wrong.
  bytes.writeUInt32BE(bytes.readUInt32BE(36) + 1, 36)
  workspace.write('workspace.db', bytes)
  const { exitCode, stderr } = await workspace.run('backup', workspace.path('backup.db'))
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^cannot back up .* the file is damaged: .*\n$/)])
  expect(stderr.trim().split('\n').length).toBe(1)
})

describe.skipIf(!canMount())('a disk that has no room for the backup', () => {
  test('is a sentence, and nothing is left on it', async () => {
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
  'the digest of a name with what sha256sum escapes is read by both: %j',
  async (name) => {
    const path = join(temporaryDirectory(), name)
    await publishFile(path, containing('text'))
    await expectWhole(path, 'text')
    writeFileSync(path, 'changed')
    await expect(requireDigest(path)).rejects.toThrow('does not have the digest')
  },
)
