// Tests that every option that names a file says in the same words that the file cannot be read, and nothing starts.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runHere, startRunForTest } from '../support/command-line.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const AWAY = 'http://127.0.0.1:1'
const ASSERTION = '--login-guard assertion --assertion-preset google-iap --assertion-audience site'

/** The path of a file comes after each. */
const COMMANDS = [
  'serve --config',
  'serve --key-encryption-key-file',
  'config check --import-token-file',
  'config check --shadow https://old.example --shadow-headers',
  `config check ${ASSERTION} --assertion-keys`,
  'doctor https://gateway.example --look outside --tls-ca',
  `import ${AWAY} --emails`,
  `import ${AWAY} --email ana@example.com --headers`,
  `import package.json --to ${AWAY} --token-file`,
  `follow ${AWAY} --emails`,
  'import',
  'restore',
] as const

describe.each(COMMANDS)('%s', (command) => {
  test.each([
    ['that is missing', 'there is no such file', (directory: string) => join(directory, 'missing')],
    ['that is below a file', 'there is no such file', () => join('package.json', 'missing')],
    ['that is a folder', 'it is a folder', (directory: string) => directory],
  ])('names a file %s', async (_, reason, pathIn) => {
    const directory = temporaryDirectory()
    const path = pathIn(directory)
    const database = `file:${join(directory, 'workspace.db')}`
    const { exitCode, stderr } = await runHere([...command.split(' '), path, '--database', database])
    expect(exitCode).toBe(2)
    const flag = / --(\S+)$/.exec(command)?.[1]
    expect(stderr).toContain(`${flag === undefined ? '' : `${flag}: `}cannot read ${path}: ${reason}\n`)
    // Not every operator knows the error codes of Node, such as ENOENT.
    expect(stderr).not.toMatch(/\bE[A-Z]{4,}/)
  })
})

/** The files that people write as text. `import` and `restore` read files of any length. */
const TEXTS = COMMANDS.filter((command) => / --(?!assertion-keys)\S+$/.test(command))

describe.each([...TEXTS, 'import', 'restore'])('%s', (command) => {
  test.each([
    ['UTF-16', '\ufeffport: 4000\r\n'],
    ['UTF-16 of the other byte order', '\ufffe\u7000\u6f00\u7200\u7400\u3a00'],
  ])('says that a file is %s', async (_, text) => {
    const directory = temporaryDirectory()
    const path = join(directory, 'file')
    writeFileSync(path, text, 'utf16le')
    const database = `file:${join(directory, 'workspace.db')}`
    const { exitCode, stderr } = await runHere([...command.split(' '), path, '--database', database])
    expect(exitCode).toBe(2)
    const reason = 'it is UTF-16, as > of Windows PowerShell writes it: save it as UTF-8'
    expect(stderr).toContain(`cannot read ${path}: ${reason}\n`)
  })
})

test.skipIf(process.platform === 'win32').each(TEXTS)('%s refuses a file without an end', async (command) => {
  const { exitCode, stderr } = await runHere([...command.split(' '), '/dev/zero'])
  expect(exitCode).toBe(2)
  expect(stderr).toContain('cannot read /dev/zero: it is longer than 128 MiB\n')
})

test.skipIf(process.platform === 'win32')('--assertion-keys refuses a file without an end', async () => {
  const { exitCode, stderr } = await runHere(`config check ${ASSERTION} --assertion-keys /dev/zero`.split(' '))
  expect(exitCode).toBe(2)
  expect(stderr).toContain('cannot read /dev/zero: it is longer than 256 KiB\n')
})

/** Commands that end what they do on a signal, instead of being killed by it, once they have read their files. */
const STOPPABLE = [
  `import ${AWAY} --emails`,
  `follow ${AWAY} --emails`,
  `conformance ${AWAY} --email ana@example.com --headers`,
]

test.skipIf(process.platform === 'win32').each(STOPPABLE)(
  '%s is ended by a signal while it waits for a pipe without an end',
  async (command) => {
    const pipe = join(temporaryDirectory(), 'pipe')
    execFileSync('mkfifo', [pipe])
    const running = startRunForTest([...command.split(' '), pipe])
    // Opened when the command opens it too.
    const writer = await open(pipe, 'w')
    running.process.kill('SIGTERM')
    await running.ended
    await writer.close()
    expect(running.process.signalCode).toBe('SIGTERM')
  },
)
