// Tests shell completion: each shell loads its script and is asked as if Tab had been pressed.
import { execFile, execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { runHere } from '../support/command-line.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const execute = promisify(execFile)

/** The arguments with which each shell prints its completions of a line. */
const SHELLS = {
  bash: (script: string, line: string) => ['--norc', driver('complete.bash'), script, line],
  zsh: (script: string, line: string) => ['-f', driver('complete.zsh'), script, line],
  fish: (script: string, line: string) => ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', script, line],
}

/** What is typed before Tab, what the shell has to offer, and what it must not offer. */
const LINES = [
  { typed: '', has: ['serve', 'import', 'keys', 'config'], hasNot: ['rotate', '--port', 'gateway.yaml'] },
  { typed: 'ke', has: ['keys'], hasNot: ['serve'] },
  { typed: 'keys ', has: ['list', 'rotate', 'retire', 'encrypt'], hasNot: ['serve', 'keys'] },
  { typed: 'keys rotate --s', has: ['--sign-after', '--statement-timeout'], hasNot: ['--port', '--send-timeout'] },
  { typed: 'serve --mail-', has: ['--mail-url', '--mail-tls'], hasNot: ['--port'] },
  { typed: 'serve --port 1 --log-level ', has: ['debug', 'silent'], hasNot: ['--port', 'gateway.yaml'] },
  { typed: 'serve --log-level=d', has: ['debug'], hasNot: ['silent', '--database'] },
  // A list, and a number that may also be a word.
  { typed: 'serve --login-guard ', has: ['local', 'mail'], hasNot: ['--host', 'gateway.yaml'] },
  { typed: 'serve --workers ', has: ['auto'], hasNot: ['--host', 'gateway.yaml'] },
  { typed: 'audit --kind log', has: ['login', 'logout'], hasNot: ['import', '--from'] },
  { typed: 'serve --port ', has: [], hasNot: ['--host', 'gateway.yaml'] },
  { typed: 'serve --config gate', has: ['gateway.yaml'], hasNot: ['--port'] },
  { typed: 'doctor --tls-ca gate', has: ['gateway.yaml'], hasNot: ['--port'] },
  // A path of a URL.
  { typed: 'serve --base-path gate', has: [], hasNot: ['gateway.yaml'] },
  { typed: 'import gate', has: ['gateway.yaml'], hasNot: ['--database'] },
  { typed: 'completion ', has: ['bash', 'zsh', 'fish'], hasNot: ['serve'] },
  { typed: 'config print ', has: ['serve', 'keys'], hasNot: ['rotate', 'gateway.yaml'] },
  // This option is refused as an argument, so it is not offered.
  { typed: 'serve --key-encryption', has: ['--key-encryption-key-file'], hasNot: ['--key-encryption-key'] },
]

describe.each(Object.entries(SHELLS))('%s', (shell, argumentsFor) => {
  test.skipIf(isMissing(shell))('completes commands, options, their values and files', async () => {
    const cwd = temporaryDirectory()
    writeFileSync(join(cwd, 'gateway.yaml'), '')
    const { stdout: script } = await runHere(['completion', shell])
    const path = join(cwd, 'script')
    writeFileSync(path, script)
    for (const { typed, has, hasNot } of LINES) {
      const args = argumentsFor(path, `workspace-gateway ${typed}`)
      // The zsh driver exits with 1 when there is nothing to offer, as grep does.
      const { stdout, stderr } = await execute(shell, args, { cwd, timeout: 120_000 }).catch((error) => error)
      const offered: readonly string[] = String(stdout)
        .split('\n')
        // fish repeats the text before the = and adds descriptions.
        .map((line) =>
          line
            .split('\t', 1)
            .join('')
            .replace(/^--log-level=/, ''),
        )
      expect(stderr, typed).toBe('')
      expect(offered, typed).toEqual(expect.arrayContaining(has))
      expect(
        offered.filter((word) => hasNot.includes(word)),
        typed,
      ).toEqual([])
    }
  })
})

test.skipIf(isMissing('zsh'))('zsh completes at the first Tab when the script is in a folder of fpath', async () => {
  const cwd = temporaryDirectory()
  const path = join(cwd, '_workspace-gateway')
  writeFileSync(path, (await runHere(['completion', 'zsh'])).stdout)
  const { stdout } = await execute('zsh', SHELLS.zsh(path, 'workspace-gateway ke'), { cwd, timeout: 120_000 })
  expect(stdout).toBe('keys\n')
})

test('a shell without a script is refused, and the message names the supported shells', async () => {
  const { exitCode, stdout, stderr } = await runHere(['completion', 'tcsh'])
  expect([exitCode, stdout]).toEqual([2, ''])
  expect(stderr).toContain('bash, zsh, fish')
})

function driver(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

function isMissing(shell: string): boolean {
  try {
    execFileSync(shell, ['-c', 'exit'], { stdio: 'ignore' })
    return false
  } catch {
    console.warn(`The completion of ${shell} is not tested: ${shell} is not installed.`)
    return true
  }
}
