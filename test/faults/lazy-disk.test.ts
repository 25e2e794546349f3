// Tests the lazy disk: a FUSE file system that forgets what was not synced when its power is cut.
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { canMountLazyDisk, hasFuse } from '../support/faults.ts'
import { mountLazyDisk } from '../support/lazy-disk.ts'
import { createSeededRandom } from '../support/seeded-random.ts'

const SECTOR_BYTES = 512
/** Enough seeds for every kind of cut that the tests look for. */
const SEEDS = Array.from({ length: 40 }, (_, seed) => seed)

if (hasFuse()) {
  describe.skipIf(!(await canMountLazyDisk()))('a lazy disk after a power cut', () => {
    test('keeps everything that was synced, and none, some or all sectors of a later write', async () => {
      await using disk = await mountLazyDisk()
      const file = join(disk.path, 'file')
      const left: string[] = []
      for (const seed of SEEDS) {
        write(file, 'w', 'aaaa', { isSynced: true })
        sync(disk.path)
        write(file, 'r+', 'bbbb', { isSynced: false })
        const { namesLost, writesLost } = await disk.cutPower(createSeededRandom(seed))
        const found = sectors(file)
        expect(found).toMatch(/^[ab]{4}$/)
        expect([namesLost, writesLost.get('file')]).toEqual([0, found === 'bbbb' ? expect.any(Number) : 1])
        left.push(found)
      }
      expect(left).toEqual(expect.arrayContaining(['bbbb', expect.stringMatching(/ab|ba/)]))
      // Half of the cuts keep nothing that was not synced.
      expect(left.filter((found) => found === 'aaaa').length).toBeGreaterThan(SEEDS.length / 4)
    })

    test('loses the newest name changes that were not synced, even of files that were', async () => {
      await using disk = await mountLazyDisk()
      const left = new Set<string>()
      for (const seed of SEEDS) {
        write(join(disk.path, 'old'), 'w', 'aaaa', { isSynced: true })
        sync(disk.path)
        renameSync(join(disk.path, 'old'), join(disk.path, 'new'))
        linkSync(join(disk.path, 'new'), join(disk.path, 'link'))
        write(join(disk.path, 'other'), 'w', 'bbbb', { isSynced: true })
        rmSync(join(disk.path, 'new'))
        const { namesLost } = await disk.cutPower(createSeededRandom(seed))
        const names = readdirSync(disk.path).toSorted()
        left.add(`${names.join(' ')}, ${namesLost} lost`)
        for (const name of names) {
          expect(sectors(join(disk.path, name))).toBe(name === 'other' ? 'bbbb' : 'aaaa')
          rmSync(join(disk.path, name))
        }
      }
      expect([...left].toSorted()).toEqual([
        'link new other, 1 lost',
        'link new, 2 lost',
        'link other, 0 lost',
        'new, 3 lost',
        'old, 4 lost',
      ])
    })
  })
} else {
  test('mounting a lazy disk fails without FUSE', async () => {
    await expect(mountLazyDisk()).rejects.toThrow()
  })
}

/** Writes one sector for each character. */
function write(file: string, flags: string, text: string, { isSynced }: { readonly isSynced: boolean }): void {
  const descriptor = openSync(file, flags)
  writeSync(descriptor, [...text].map((character) => character.repeat(SECTOR_BYTES)).join(''), 0)
  if (isSynced) fsyncSync(descriptor)
  closeSync(descriptor)
}

function sectors(file: string): string {
  return [...readFileSync(file, 'latin1')].filter((_, at) => at % SECTOR_BYTES === 0).join('')
}

function sync(folder: string): void {
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
