// Tests that every regular expression of the sources takes linear time, whatever text it is given.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { check } from 'recheck'
import { parseSync } from 'vite'
import { expect, test } from 'vitest'

const SOURCES = fileURLToPath(new URL('../src', import.meta.url))

/** Without the build of the pages, which reads only files of this project. */
const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
  (file) => /\.tsx?$/.test(file) && !/^explorer\/build[^/]*$/.test(file),
)

interface Pattern {
  readonly source: string
  readonly flags: string
}

/** Returns every regular expression literal of a file, from its syntax tree. */
function patternsOf(file: string): readonly Pattern[] {
  const { program, errors } = parseSync(file, readFileSync(join(SOURCES, file), 'utf8'))
  expect(errors, file).toEqual([])
  const found: Pattern[] = []
  JSON.stringify(program, (_key, node: unknown) => {
    const regex = typeof node === 'object' && node !== null ? Reflect.get(node, 'regex') : undefined
    if (regex) found.push({ source: regex.pattern, flags: regex.flags })
    // A BigInt literal, which JSON cannot represent.
    return typeof node === 'bigint' ? null : node
  })
  return found
}

/** The checker measures the time of a suspect, so a safe expression may seem slow on a busy machine, even several times. */
const MAX_ATTEMPTS = 4

/**
 * Uses the checker's own program if npm installed it, otherwise its JavaScript, which takes far longer. An expression
 * is safe if one attempt finds it safe: the attacks against a vulnerable one succeed every time.
 */
async function judge({ source, flags }: Pattern): Promise<string> {
  let status = ''
  for (let attempt = 1; attempt <= MAX_ATTEMPTS && status !== 'safe'; attempt += 1) {
    status = (await check(source, flags, { timeout: 100_000 })).status
  }
  return status
}

test.each([
  ['^application\\/json\\s*(?:;\\s*charset\\s*=\\s*"?utf-?8"?\\s*)?;?\\s*$', 'i', 'vulnerable'],
  ['[^\\s@]+@[^\\s@]+', 'g', 'vulnerable'],
  ['(a+)+$', '', 'vulnerable'],
  ['\\/+$', '', 'vulnerable'],
  ['^[a-z]+$', '', 'safe'],
])('the check itself: /%s/%s is %s', async (source, flags, status) => {
  expect(await judge({ source, flags })).toBe(status)
})

test('every regular expression is linear', async () => {
  const patterns = files.flatMap((file) => patternsOf(file).map((pattern) => ({ file, ...pattern })))
  expect(patterns.length).toBeGreaterThan(30)
  const wrong: string[] = []
  // An expression that several files have is judged once.
  const distinct = new Map(patterns.map((pattern) => [`/${pattern.source}/${pattern.flags}`, pattern]))
  for (const [text, pattern] of distinct) {
    const status = await judge(pattern)
    if (status !== 'safe') wrong.push(`${pattern.file}: ${text} is ${status}`)
  }
  expect(wrong).toEqual([])
  // About ten seconds of computing in JavaScript, besides whatever else the machine does.
}, 300_000)

test('no regular expression is built from text, because this check would not see it', () => {
  const makers = files.filter((file) => /\bRegExp\(/.test(readFileSync(join(SOURCES, file), 'utf8')))
  expect(makers).toEqual([])
})
