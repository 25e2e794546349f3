// Boots systemd as process 1 of a container, with the programs of this machine read-only, an empty /etc and /var, and
// the network of this machine.
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ROOT } from './install.ts'

const SYSTEMD = '/usr/lib/systemd/systemd'
const MACHINE_ID = '0123456789abcdef0123456789abcdef'
const UNITS = 'node_modules/workspace-gateway/packaging/systemd'
/** Allows for many tests on two processors. */
export const PATIENT = { timeout: 240_000, interval: 50 }

export function canBootSystemd(): boolean {
  const isThere = existsSync(SYSTEMD) && spawnSync('systemd-nspawn', ['--version']).error === undefined
  return isThere && process.getuid?.() === 0
}

export interface BootedSystemd {
  readonly url: string
  readonly port: number
  /** Returns what systemctl prints, or rejects when it fails. */
  readonly systemctl: (...args: string[]) => Promise<string>
  /** Returns a property of the service. */
  readonly show: (property: string) => Promise<string>
  readonly journal: () => Promise<string>
  readonly run: (command: string, ...args: string[]) => Promise<string>
  /** Returns process ids of the service as this machine sees them, or throws if it does not run. */
  readonly pids: () => { readonly main: number; readonly workers: readonly number[] }
  /** The folder that the container sees as `/etc/workspace-gateway`. */
  readonly settings: string
}

/**
 * Boots with the package's own units, and adds `service` to the service unit. The package is in `installed`. Ends with
 * the test.
 */
export async function bootSystemd(installed: string, service: string): Promise<BootedSystemd> {
  const folder = temporaryDirectory()
  const port = await freePort('127.0.0.1')
  const [units, settings, id] = ['units', 'settings', 'machine-id'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  chmodSync(folder, 0o755)
  chmodSync(installed, 0o755)
  cpSync(join(installed, UNITS), units, { recursive: true })
  mkdirSync(settings)
  // Without a machine id, this would be a first boot, in which Debian enables every installed service.
  writeFileSync(id, `${MACHINE_ID}\n`)
  addTo(units, 'workspace-gateway.socket', `[Socket]\nListenStream=\nListenStream=127.0.0.1:${port}\n`)
  addTo(units, 'workspace-gateway.service', service)
  const isolated = ['--directory=/', '--volatile=yes', '--register=no', '--keep-unit', '--console=pipe']
  const bound = [
    `--bind-ro=${id}:/etc/machine-id`,
    `--bind=${units}:/etc/systemd/system`,
    `--bind=${settings}:/etc/workspace-gateway`,
    `--bind-ro=${installed}:/opt/workspace-gateway`,
    `--bind-ro=${process.execPath}:/usr/bin/node`,
  ]
  const name = `--machine=workspace-gateway-${port}`
  const nspawn = spawn('systemd-nspawn', [...isolated, name, ...bound, '--boot', 'systemd.unit=basic.target'], {
    cwd: ROOT,
  })
  let output = ''
  for (const stream of [nspawn.stdout, nspawn.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk
    })
  }
  const closed = once(nspawn, 'close')
  onTestFinished(async () => {
    nspawn.kill('SIGTERM')
    await closed
  })

  const execute = promisify(execFile)
  const run = async (command: string, ...args: string[]) => {
    const init = childrenOf(nspawn.pid ?? 0)[0]
    if (init === undefined) throw new Error(`systemd has not started: ${output}`)
    const inside = ['--target', `${init}`, '--mount', '--uts', '--ipc', '--pid', '--cgroup', '--']
    const env = { PATH: '/usr/sbin:/usr/bin', SYSTEMD_PAGER: '', LC_ALL: 'C' }
    return (await execute('nsenter', [...inside, command, ...args], { env })).stdout
  }
  const systemctl = (...args: string[]) => run('systemctl', ...args)
  const isBooted = () => systemctl('is-active', 'basic.target').catch((error: Error) => `${error.message}${output}`)
  await expect.poll(isBooted, PATIENT).toBe('active\n')
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    systemctl,
    run,
    settings,
    show: async (property) => (await systemctl('show', '--property', property, '--value', 'workspace-gateway')).trim(),
    journal: () => run('journalctl', '--unit', 'workspace-gateway', '--output', 'cat'),
    pids() {
      // The container has other process ids.
      const all = childrenOf(childrenOf(nspawn.pid ?? 0)[0] ?? 0)
      const main = all.find(isGateway)
      if (main === undefined) throw new Error('the service does not run')
      // For a moment, the service has other children too: one that notifies systemd, and one that has just ended.
      return { main, workers: childrenOf(main).filter(isGateway) }
    },
  }
}

function addTo(units: string, unit: string, text: string): void {
  mkdirSync(join(units, `${unit}.d`))
  writeFileSync(join(units, `${unit}.d`, 'test.conf'), text)
}

function isGateway(pid: number): boolean {
  const path = `/proc/${pid}/cmdline`
  return existsSync(path) && readFileSync(path, 'utf8').includes('workspace-gateway.cjs')
}

function childrenOf(pid: number): readonly number[] {
  const path = `/proc/${pid}/task/${pid}/children`
  return existsSync(path) ? readFileSync(path, 'utf8').split(' ').filter(Boolean).map(Number) : []
}
