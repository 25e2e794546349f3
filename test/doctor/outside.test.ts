import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DOCUMENTED, type Documented, NAME, startDocumented } from '../guards/proxies/documented-proxies.ts'
import { runHere, type ServingProcess, serve } from '../support/command-line.ts'
import { isInstalled } from '../support/proxy-process.ts'
import { makeDirectory, removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts'
import { BAD_PROXIES } from './bad-proxies.ts'

/** All of them, otherwise twelve. */
const ROWS = process.env.TEST_DOCTOR === 'all' ? BAD_PROXIES : BAD_PROXIES.slice(0, 12)

interface Report {
  readonly findings: readonly { readonly check: string; readonly fix: Readonly<Record<string, string>> }[]
  readonly passed: readonly string[]
  readonly notChecked: readonly { readonly check: string }[]
}

const directory = makeDirectory()
const database = `file:${join(directory, 'workspace.db')}`
const kinds = {
  closed: ['--trusted-proxy', '127.0.0.1', '--login-guard', 'none'],
  open: ['--trusted-proxy', '127.0.0.1', '--login-guard', 'open'],
  protocol: ['--trusted-proxy', '127.0.0.1', '--login-guard', 'none', '--proxy-protocol'],
} as const
const gateways = new Map<keyof typeof kinds, ServingProcess>()

beforeAll(async () => {
  for (const [kind, options] of Object.entries(kinds)) {
    gateways.set(kind as keyof typeof kinds, await serve(['--database', database, ...options]))
  }
})
afterAll(async () => {
  for (const gateway of gateways.values()) await gateway.kill('SIGKILL')
  removeDirectory(directory)
})

async function examine(documented: Documented, kind: keyof typeof kinds, options: readonly string[] = []) {
  const { port, ca } = await startDocumented(documented, gateways.get(kind)?.url ?? '')
  const authority = join(temporaryDirectory(), 'ca.pem')
  writeFileSync(authority, ca)
  const args = ['--connect-to', '127.0.0.1', '--tls-ca', authority, '--database', database, '--format', 'json']
  const { stdout, stderr, exitCode } = await runHere([
    'doctor',
    `https://${NAME}:${port}`,
    ...kinds[kind],
    ...args,
    ...options,
  ])
  expect(stderr).toBe('')
  return { exitCode, ...(JSON.parse(stdout) as Report) }
}

describe('doctor URL', () => {
  for (const documented of DOCUMENTED) {
    const kind = documented.proxyProtocol ? 'protocol' : 'closed'
    test.runIf(isInstalled(documented.program))(`finds nothing behind ${documented.name} as documented`, async () => {
      const { findings, notChecked, exitCode } = await examine(documented, kind)
      expect(findings).toEqual([])
      expect(notChecked.map(({ check }) => check)).toEqual(['backups'])
      expect(exitCode).toBe(0)
    })
  }

  for (const { name, proxy, check, change, isOpen } of ROWS) {
    const documented = DOCUMENTED.find((one) => one.name === proxy)
    if (!documented) throw new Error(`no ${proxy}`)
    test.runIf(isInstalled(documented.program))(`finds that ${proxy} ${name}, and says what mends it`, async () => {
      const block = change(documented.block)
      if (!isOpen) expect(block).not.toBe(documented.block)
      const kind = isOpen ? 'open' : 'closed'
      const { findings, exitCode } = await examine({ ...documented, block }, kind, ['--look', 'outside'])
      const found = findings.find((finding) => finding.check === check)
      expect(findings.map((finding) => finding.check)).toContain(check)
      expect(Object.keys(found?.fix ?? {}).length).toBeGreaterThan(0)
      expect(exitCode).toBe(1)
    })
  }
})
