// Tests the page about signing in: its start commands start, and its requests get the documented answers.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { run, runHere, serveForTest } from '../support/command-line.ts'
import { startMailServer } from '../support/smtp.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const PAGE = readFileSync(fileURLToPath(new URL('../../docs/guide/sign-in.md', import.meta.url)), 'utf8')
const BLOCKS = [...PAGE.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text.replaceAll(/\\\n\s*/g, ''))
const STARTS = BLOCKS.filter((block) => block.includes('npx workspace-gateway serve'))
const REQUESTS = BLOCKS.filter((block) => block.startsWith('curl '))
const COMMANDS = BLOCKS.filter((block) => block.startsWith('npx workspace-gateway ') && !STARTS.includes(block))

const execute = promisify(execFile)

/** Splits a line as the shell would, and removes the quotes. */
function words(line: string): readonly string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}

function startOf(block: string) {
  const env = Object.fromEntries(
    [...block.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
  const line = /^npx workspace-gateway serve (.*)$/m.exec(block)?.[1] ?? ''
  return { env, args: words(line) }
}

/** Returns the flag of the option that a variable sets. */
function toFlag(variable: string): string {
  return `--${variable.replace('WORKSPACE_GATEWAY_', '').toLowerCase().replaceAll('_', '-')}`
}

/** Runs a curl command of the page and returns the answer. */
async function ask(request: string | undefined, env: Readonly<Record<string, string>>) {
  const { stdout } = await execute('sh', ['-c', request ?? ''], { env: { ...process.env, ...env } })
  return JSON.parse(stdout)
}

test('the page has no command that this file does not run', () => {
  expect([STARTS.length, REQUESTS.length, COMMANDS.length]).toEqual([9, 4, 2])
  expect(BLOCKS).toHaveLength(15)
})

test.each(STARTS.map((block) => [block.split('--login-guard ')[1]?.split('\n')[0] ?? '', block]))(
  'the documented start with --login-guard %s gets as far as the port, which is in use',
  async (_name, block) => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    onTestFinished(() => void taken.close())
    const { port } = taken.address() as AddressInfo
    const { env, args } = startOf(block)
    const given = Object.entries(env).flatMap(([name, value]) => [toFlag(name), value])
    const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
    const start = ['serve', ...args, ...given, '--port', String(port), '--database', database]
    const { exitCode, stderr } = await runHere(start)
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`port ${port} on 127.0.0.1 is in use`)])
    expect(stderr).not.toContain('PASSWORD')
  },
)

test('a code from a mail signs in with the documented requests', async () => {
  const server = await startMailServer()
  const { args } = startOf(STARTS[1] ?? '')
  const local = args.map((word) => (word.startsWith('smtp:') ? server.url : word))
  const { url } = await serveForTest([...local, '--no-demo'], { cwd: temporaryDirectory() })
  const [first, second, third] = REQUESTS
  for (const [index, request] of [second, third].entries()) {
    expect((await ask(first, { GATEWAY: url })).code).toBe('LOGIN_CODE_SENT')
    const { code } = await server.mail(index)
    expect((await ask(request, { GATEWAY: url, CODE: code })).accessToken).toMatch(/^eyJ/)
  }
  const command = words(COMMANDS[0] ?? '').slice(2)
  const { exitCode } = await run([...command, ...local.slice(2)], { cwd: temporaryDirectory() })
  expect([exitCode, (await server.mail(2)).to]).toEqual([0, 'you@example.com'])
})

test('a client is registered and signs in with the documented commands', async () => {
  const cwd = temporaryDirectory()
  const { url } = await serveForTest([...startOf(STARTS.at(-1) ?? '').args, '--no-demo'], { cwd })
  const database = ['--database', `file:${join(cwd, 'data', 'workspace.db')}`]
  const { stdout } = await run([...words(COMMANDS[1] ?? '').slice(2), ...database], { cwd })
  const answer = await ask(REQUESTS.at(-1), { GATEWAY: url, CLIENT: stdout.trim() })
  expect(answer.refreshToken).toMatch(/^wgr_/)
})
