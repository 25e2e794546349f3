// Tests what a build of the container image receives: nothing of git, of installed packages, or of a database in the
// clone.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CONTAINERFILE = 'packaging/Containerfile'

test('every builder reads the same ignore file, in the context of every documented build', () => {
  const shown = ['docs/operate/installing.md', CONTAINERFILE].flatMap((path) => [
    ...readFileSync(join(ROOT, path), 'utf8').matchAll(/docker build --file (\S+) --tag \S+ (\S+)$/gm),
  ])
  expect(shown.map(([, file, context]) => [file, context])).toEqual(Array(2).fill([CONTAINERFILE, '.']))
  expect(existsSync(join(ROOT, '.dockerignore'))).toBe(true)
  // Podman and buildah prefer `.containerignore`; docker and podman prefer an ignore file beside the Containerfile.
  expect(existsSync(join(ROOT, '.containerignore'))).toBe(false)
  expect(readdirSync(join(ROOT, 'packaging')).filter((name) => name.endsWith('ignore'))).toEqual([])
})

test("the image contains neither git's files nor what git ignores", () => {
  const leftOut = lines('.dockerignore')
  const ignored = lines('.gitignore').map((line) =>
    line.startsWith('/') ? line.slice(1).replace(/\/$/, '') : `**/${line.replace(/\/$/, '')}`,
  )
  expect(ignored).toContain('data')
  expect(leftOut.toSorted()).toEqual(['.git', ...ignored].toSorted())
})

function lines(path: string): readonly string[] {
  return readFileSync(join(ROOT, path), 'utf8')
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('#'))
}
