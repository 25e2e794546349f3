// Tests the units of the package under systemd itself: start, watchdog, restart and stop, with the user and permissions
// that they name.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { askOnNewConnection, newTally } from '../operate/socket-activation.ts'
import { ask } from '../support/gateway.ts'
import { bootSystemd, canBootSystemd, PATIENT } from './booted-systemd.ts'
import { ROOT } from './install.ts'

const isPossible = process.platform === 'linux' && canBootSystemd()
if (!isPossible) console.warn('systemd-nspawn, systemd or root is missing: the units are not started by systemd')

type Command = readonly [string, ...string[]]

const NAMES = ['workspace-gateway.socket', 'workspace-gateway.service']

/** `installed` is called when the tests run, and returns the folder of the installed package. */
export function describeService(installed: () => string): void {
  describe.skipIf(!isPossible)('under systemd', () => {
    test('the service starts when it is ready, as a user of its own, and stops gracefully', async () => {
      const systemd = await bootSystemd(installed(), '')
      await systemd.systemctl('enable', '--now', ...NAMES)
      expect(await systemd.show('ActiveState')).toBe('active')
      expect(await systemd.journal()).toContain(`listening on ${systemd.url}\n`)
      expect(await (await fetch(`${systemd.url}/readyz`)).json()).toEqual({ status: 'ready' })
      expect(await systemd.run(...shownCommand())).toMatch(/^\S+ +EdDSA +signing /)
      const [program, ...args] = shownDoctor(systemd.url)
      // It finds that the database of the container is in memory, so it ends with 1.
      const { stdout } = await systemd.run(program, ...args).then(
        (text) => ({ stdout: text }),
        (error: { stdout: string }) => error,
      )
      expect(stdout).toMatch(/^ok +signing-keys/m)
      expect(stdout).toMatch(/^ok +shared-cache/m)
      const owner = (await systemd.run('stat', '--format', '%u', `/proc/${await systemd.show('MainPID')}`)).trim()
      expect(Number(owner)).toBeGreaterThan(60_000)
      const files = await systemd.run('find', '/var/lib/private/workspace-gateway', '-printf', '%U %m %f\n')
      expect(files.trim().split('\n').toSorted()).toEqual(
        [
          `${owner} 700 workspace-gateway`,
          ...['', '-shm', '-wal'].map((suffix) => `${owner} 600 workspace.db${suffix}`),
        ].toSorted(),
      )
      const security = await systemd.run('systemd-analyze', 'security', '--threshold=20', 'workspace-gateway')
      expect(security).toMatch(/Overall exposure level for workspace-gateway\.service: [0-2]\.\d/)

      await systemd.systemctl('enable', '--now', 'workspace-gateway-backup.timer')
      await systemd.systemctl('start', 'workspace-gateway-backup.service')
      const folder = '/var/lib/private/workspace-gateway/backups'
      const backups = await systemd.run('find', folder, '-type', 'f', '-printf', '%U %m %f\n')
      const aBackup = /^\d+ 600 workspace-\S+Z\.backup(\.sha256)?$/gm
      expect(backups.match(aBackup)?.map((line) => line.split(' ')[0])).toEqual([owner, owner])

      await systemd.systemctl('stop', 'workspace-gateway.service')
      expect([await systemd.show('Result'), await systemd.show('ExecMainStatus')]).toEqual(['success', '0'])
      // After root changes a database that nobody has open, its files still belong to the service.
      await systemd.run(...shownCommand('rotate'))
      // Its socket is still there, so a connection starts the service.
      expect((await ask(`${systemd.url}/readyz`)).status).toBe(200)
      // The gateway answers before systemd has read that it is ready.
      await expect.poll(() => systemd.show('ActiveState'), PATIENT).toBe('active')

      const [stop, restore, start] = shownRestore(backups.match(/workspace-\S+\.backup/)?.[0] ?? '')
      await systemd.run(...stop)
      await expect(ask(`${systemd.url}/readyz`)).rejects.toThrow()
      expect(await systemd.run(...restore)).toContain('all sessions have ended')
      await systemd.run(...start)
      expect((await ask(`${systemd.url}/readyz`)).status).toBe(200)
    })

    test('a restart refuses no connection', async () => {
      const systemd = await bootSystemd(installed(), '')
      await systemd.systemctl('start', ...NAMES)
      const tally = newTally()
      const asking = new AbortController()
      const clients = Array.from({ length: 20 }, async () => {
        while (!asking.signal.aborted) await askOnNewConnection(systemd.port, tally)
      })
      await expect.poll(() => tally.answered, PATIENT).toBeGreaterThan(50)
      const before = await systemd.show('MainPID')
      await systemd.systemctl('restart', 'workspace-gateway.service')
      expect(await systemd.show('MainPID')).not.toBe(before)
      const { answered } = tally
      await expect.poll(() => tally.answered, PATIENT).toBeGreaterThan(answered + 100)
      asking.abort()
      await Promise.all(clients)
      expect(tally.failures).toEqual({})
    })

    test('a gateway that hangs or is killed is replaced by another one', async () => {
      const systemd = await bootSystemd(installed(), '[Service]\nWatchdogSec=5s\nRestartSec=100ms\n')
      await systemd.systemctl('start', ...NAMES)
      process.kill(systemd.pids().main, 'SIGSTOP')
      // This request arrives meanwhile and waits for the next gateway.
      const waiting = ask(`${systemd.url}/readyz`)
      await expect.poll(() => systemd.show('NRestarts'), PATIENT).toBe('1')
      expect(await systemd.run('journalctl', '--unit', 'workspace-gateway')).toContain('Watchdog timeout')
      // If the hanging gateway had accepted the connection, the request is repeated.
      expect((await waiting.catch(() => ask(`${systemd.url}/readyz`))).status).toBe(200)
      await expect.poll(() => systemd.show('ActiveState'), PATIENT).toBe('active')
      process.kill(systemd.pids().main, 'SIGKILL')
      await expect.poll(() => systemd.show('NRestarts'), PATIENT).toBe('2')
      expect((await ask(`${systemd.url}/readyz`)).status).toBe(200)
    })

    test('a service whose database is away is started again and again, until the database is back', async () => {
      const systemd = await bootSystemd(installed(), '')
      const path = join(systemd.settings, 'environment')
      writeFileSync(path, 'WORKSPACE_GATEWAY_DATABASE=postgres://127.0.0.1:1/away\n', { mode: 0o600 })
      await expect(systemd.systemctl('start', ...NAMES)).rejects.toThrow()
      const waiting = ask(`${systemd.url}/readyz`)
      // By default systemd gives up after five starts within ten seconds.
      await expect.poll(async () => Number(await systemd.show('NRestarts')), PATIENT).toBeGreaterThan(6)
      writeFileSync(path, '')
      await expect.poll(() => systemd.show('ActiveState'), PATIENT).toBe('active')
      expect((await waiting).status).toBe(200)
    })

    test('a service with a wrong configuration is started once, even while a client waits, and again when it is told', async () => {
      const systemd = await bootSystemd(installed(), '')
      const path = join(systemd.settings, 'environment')
      writeFileSync(path, 'WORKSPACE_GATEWAY_LOGIN_GAURD=none\n')
      await systemd.systemctl('start', 'workspace-gateway.socket')
      // The connection starts the service, waits, and would start it again each time that it has ended.
      await expect(ask(`${systemd.url}/readyz`)).rejects.toThrow()
      expect(await systemd.show('Result')).toBe('exit-code')
      expect((await systemd.journal()).match(/WORKSPACE_GATEWAY_LOGIN_GAURD/g)).toHaveLength(1)
      await expect(systemd.systemctl('is-active', 'workspace-gateway.socket')).rejects.toThrow()
      writeFileSync(path, '')
      await systemd.systemctl('start', 'workspace-gateway.service')
      expect((await ask(`${systemd.url}/readyz`)).status).toBe(200)
    })

    test('the service reads its variables from a file, and replaces its workers one by one on SIGHUP', async () => {
      const systemd = await bootSystemd(installed(), '')
      const path = join(systemd.settings, 'environment')
      writeFileSync(path, 'WORKSPACE_GATEWAY_WORKERS=2\nWORKSPACE_GATEWAY_BASE_PATH=/one\n', { mode: 0o600 })
      await systemd.systemctl('start', ...NAMES)
      expect((await ask(`${systemd.url}/one/readyz`)).status).toBe(200)
      const before = systemd.pids()
      expect(before.workers).toHaveLength(2)
      await systemd.systemctl('kill', '--kill-whom=main', '--signal=HUP', 'workspace-gateway')
      await expect.poll(systemd.journal, PATIENT).toContain('all workers were replaced')
      const after = () => {
        const { main, workers } = systemd.pids()
        return { main, workers: workers.length, old: workers.filter((pid) => before.workers.includes(pid)) }
      }
      await expect.poll(after, PATIENT).toEqual({ main: before.main, workers: 2, old: [] })
      await systemd.systemctl('stop', 'workspace-gateway.service')
      expect(await systemd.show('Result')).toBe('success')
    })
  })
}

/** Returns the documented command that examines the gateway at `url`. */
function shownDoctor(url: string): Command {
  const paper = readFileSync(join(ROOT, 'docs/operate/installing.md'), 'utf8')
  const [, text = ''] = /^ *systemd-run (.+\\\n.+\\\n.+)$/m.exec(paper) ?? []
  return ['systemd-run', ...text.replace('https://gateway.example.com', url).split(/[\s\\]+/)]
}

/** Returns the three documented commands that restore the backup `name`. */
function shownRestore(name: string): readonly [Command, Command, Command] {
  const paper = readFileSync(join(ROOT, 'docs/operate/installing.md'), 'utf8')
  const [, stop = '', restore = '', start = ''] =
    /^(systemctl stop .+)\n(.+ restore .+)\n(systemctl start .+)$/m.exec(paper) ?? []
  return [toCommand(stop), toCommand(restore.replace('NAME.backup', name)), toCommand(start)]
}

/** Returns the documented command for the service's database. */
function shownCommand(verb = 'list'): Command {
  const paper = readFileSync(join(ROOT, 'docs/operate/installing.md'), 'utf8')
  const [, line = ''] = /^ *(\/opt\/workspace-gateway\/.+)$/m.exec(paper) ?? []
  return toCommand(line.replace('keys list', `keys ${verb}`))
}

function toCommand(line: string): Command {
  const [program = '', ...args] = line.split(' ')
  return [program, ...args]
}
