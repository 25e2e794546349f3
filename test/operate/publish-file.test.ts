// A backup gets its name with its digest, whoever else makes one of that name.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { NotPublishedError, publishFile, requireDigest } from '../../src/cli/backup/publish-file.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

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
  await expect(second).rejects.toThrow(new NotPublishedError(`${path} is there already, and is not written over`))
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
