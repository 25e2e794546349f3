// What a build of the container image is given: nothing of git's, of the installed packages, of a database in the clone.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CONTAINERFILE = 'packaging/Containerfile'

test('every builder reads the one list of what is left out, beside the context that every shown build has', () => {
  const shown = ['docs/operate/installing.md', CONTAINERFILE].flatMap((path) => [
    ...readFileSync(join(ROOT, path), 'utf8').matchAll(/docker build --file (\S+) --tag \S+ (\S+)$/gm),
  ])
  expect(shown.map(([, file, context]) => [file, context])).toEqual(Array(2).fill([CONTAINERFILE, '.']))
  expect(existsSync(join(ROOT, '.dockerignore'))).toBe(true)
  // Podman and buildah prefer the first, docker and podman the others.
  expect(existsSync(join(ROOT, '.containerignore'))).toBe(false)
  expect(readdirSync(join(ROOT, 'packaging')).filter((name) => name.endsWith('ignore'))).toEqual([])
})

test('what git ignores, and git itself, is left out of the image', () => {
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
