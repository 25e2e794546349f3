// Tests the doctor on the machine of the gateway: it finds nothing false, whatever address the gateway listens on and
// whatever routes it retires.
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runHere, serveForTest } from '../support/command-line.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { SMALL_WORLD } from '../support/workspaces.ts'

async function examine(flags: readonly string[], shown: (port: string) => string) {
  const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
  expect((await runHere(['import', '-', '--database', database], { stdin: SMALL_WORLD })).exitCode).toBe(0)
  const { url } = await serveForTest(['--database', database, ...flags])
  const args = [
    'doctor',
    shown(new URL(url).port),
    '--look',
    'outside',
    '--database',
    database,
    '--format',
    'json',
    '--lock-timeout',
    '50',
  ]
  const { stdout, stderr } = await runHere(args)
  expect(stderr).toBe('')
  const { findings, notChecked } = JSON.parse(stdout) as {
    readonly findings: readonly { readonly check: string }[]
    readonly notChecked: readonly { readonly check: string }[]
  }
  return { findings: findings.map(({ check }) => check), skipped: notChecked.map(({ check }) => check) }
}

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))
if (!hasIpv6) console.warn('skipped: this machine has no ::1')

test.skipIf(!hasIpv6)('the doctor reaches a gateway on ::1 and finds nothing there', async () => {
  const { findings } = await examine(['--host', '::1'], (port) => `http://[::1]:${port}`)
  expect(findings).toEqual([])
})

test.skipIf(!hasIpv6)(
  'the doctor reports no proxy when none is in between, also for a gateway on all addresses',
  async () => {
    const guard = ['--login-guard', 'none', '--trusted-proxy', '127.0.0.0/8']
    const { findings } = await examine(['--host', '::', ...guard], (port) => `http://127.0.0.1:${port}`)
    expect(findings.filter((check) => check.startsWith('client-') || check.startsWith('forged-'))).toEqual([])
  },
)

test('the doctor does not report retired routes, and skips the checks that need them', async () => {
  const retired = ['--sunset', '/projects=2020-01-01,/logout=2020-01-01']
  const { findings, skipped } = await examine(retired, (port) => `http://127.0.0.1:${port}`)
  expect(findings).toEqual([])
  expect(skipped).toEqual(expect.arrayContaining(['delete-body', 'authorization']))
})
