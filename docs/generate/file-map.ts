// docs/architecture/files.md: every file of src, with the sentence that it opens with, the options and the constants that it sets.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { code, markdownTable } from './markdown-table.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Comments of TypeScript, from the first line or after `#!`, and of CSS. */
const OPENING = /^(?:#!.*\n)?(?:(?<lines>(?:\/\/ .*\n)+)|\/\* (?<block>[\s\S]*?) ?\*\/)/
const FIRST_SENTENCE = /^.*?[.?!](?=\s|$)/s
/** An option's row in `src/cli/options`, or a constant. */
const SETTING = /\bflags: '(?:-\w, )?(--[\w-]+)|^(?:export )?const ([A-Z][A-Z\d_]+)\b/gm

const INTRODUCTION = `# Files

This page lists every file of \`src\` by folder, with its opening sentence and the options and constants that it defines. Search it for what you want to change.
[overview.md](overview.md) explains how the folders work together. [CONTRIBUTING.md](../../CONTRIBUTING.md) says which files each kind of change needs.
`

export function fileMap(): string {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(?:tsx?|css)$/.test(file))
    .map((file) => join('src', file))
    .toSorted()
  const folders = [...Map.groupBy(files, dirname)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const parts = folders.map(([folder, inside]) => {
    const rows = inside.map((file) => row(file, readFileSync(join(ROOT, file), 'utf8')))
    return `## ${folder}\n\n${markdownTable(['file', 'what it answers for', 'options and constants'], rows)}\n`
  })
  return [INTRODUCTION, ...parts].join('\n')
}

function row(file: string, source: string): readonly string[] {
  const settings = [...source.matchAll(SETTING)].map(([, flag, constant]) => flag ?? constant ?? '')
  return [code(basename(file)), openingSentence(source), settings.map(code).join(' ')]
}

/** Of a file that a program wrote, and so opens with no sentence: who writes it. */
function openingSentence(source: string): string {
  const { lines, block } = OPENING.exec(source)?.groups ?? {}
  const text = (lines?.replaceAll(/^\/\/ /gm, '') ?? block ?? 'Written by `npm run generate`.').trim()
  return (FIRST_SENTENCE.exec(text)?.[0] ?? text).replaceAll(/\s+/g, ' ')
}
