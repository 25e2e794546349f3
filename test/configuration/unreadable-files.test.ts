// Tests that every option that names a file says in the same words that the file cannot be read, and nothing starts.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runHere } from '../support/command-line.ts'
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
