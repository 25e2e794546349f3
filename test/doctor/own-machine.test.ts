// The doctor beside the gateway: whichever address it listens on, and whatever it retires, nothing is found that is not so.
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
  const args = ['doctor', shown(new URL(url).port), '--look', 'outside', '--database', database, '--format', 'json']
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

test.skipIf(!hasIpv6)('a gateway on ::1 is reached, and nothing is found there', async () => {
  const { findings } = await examine(['--host', '::1'], (port) => `http://[::1]:${port}`)
  expect(findings).toEqual([])
})

test.skipIf(!hasIpv6)('without a proxy in between no proxy is found wanting, also on all addresses', async () => {
  const guard = ['--login-guard', 'none', '--trusted-proxy', '127.0.0.0/8']
  const { findings } = await examine(['--host', '::', ...guard], (port) => `http://127.0.0.1:${port}`)
  expect(findings.filter((check) => check.startsWith('client-') || check.startsWith('forged-'))).toEqual([])
})

test('routes that are retired are no findings: what they would tell is not looked at', async () => {
  const retired = ['--sunset', '/projects=2020-01-01,/logout=2020-01-01']
  const { findings, skipped } = await examine(retired, (port) => `http://127.0.0.1:${port}`)
  expect(findings).toEqual([])
  expect(skipped).toEqual(expect.arrayContaining(['delete-body', 'authorization']))
})
