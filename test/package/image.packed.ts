// Tests the container image. Docker builds and runs it with the commands of installing.md. Without Docker, the steps of
// its last stage are checked in a chroot (container.ts).
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { ask, bearer, openSession } from '../support/gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'
import { provideBaseImage } from './base-image.ts'
import { openContainerEngine } from './container-engine.ts'
import { ROOT } from './install.ts'

const PATIENT = { timeout: 240_000, interval: 200 }
const MAX_CONTEXT_BYTES = 20_000_000

const engine = await openContainerEngine()
if (typeof engine === 'string')
  console.warn(`${engine}: the image is not built, its steps are checked in a chroot only`)

const containerfile = readFileSync(join(ROOT, 'packaging/Containerfile'), 'utf8')
const [, base = ''] = /^FROM (\S+) AS build$/m.exec(containerfile) ?? []
const shown = readFileSync(join(ROOT, 'docs/operate/installing.md'), 'utf8')
const shownBuild = argumentsOf('build')
const shownRun = argumentsOf('run')

/** Returns the arguments of a command on the page. */
function argumentsOf(command: string): readonly string[] {
  const [, line = ''] = new RegExp(`^docker ${command} (.+)$`, 'm').exec(shown) ?? []
  return line.split(' ')
}

if (typeof engine === 'string') {
  test('the page shows how to build and run the image', () => {
    expect([shownBuild.at(-1), shownRun.at(-1)]).toEqual(['.', 'workspace-gateway'])
  })
} else {
  describe('the image', () => {
    const { docker, spawnDocker } = engine
    const names: string[] = []

    /** Runs docker and returns what it prints to stdout, or throws. */
    function must(args: readonly string[], input?: string): string {
      const { exitCode, stdout, stderr } = docker(args, input)
      if (exitCode !== 0) throw new Error(`docker ${args.join(' ')}: ${stderr}${stdout}`)
      return stdout
    }

    /** Starts a container as the page shows it, but on the network of this machine, which needs no bridge. */
    async function start(volume: string, more: readonly string[] = [], command: readonly string[] = []) {
      const port = await freePort('0.0.0.0')
      const name = `workspace-gateway-test-${port}`
      const options = shownRun
        .slice(0, -1)
        .filter((_, at) => shownRun[at] !== '--publish' && shownRun[at - 1] !== '--publish')
        .map((option) => option.replace('workspace:', `${volume}:`))
      const own = ['--detach', '--name', name, '--network', 'host', '--env', `WORKSPACE_GATEWAY_PORT=${port}`]
      names.push(name)
      must(['run', ...options, ...own, ...more, 'workspace-gateway', ...command])
      const state = (field: string) => must(['inspect', '--format', `{{.State.${field}}}`, name]).trim()
      const logs = () => docker(['logs', name])
      await expect.poll(() => state('Running') === 'false' || logs().stdout, PATIENT).toBeTruthy()
      return { name, port, url: `http://127.0.0.1:${port}`, state, logs }
    }

    beforeAll(() => {
      console.log(`${base} is ${provideBaseImage(engine, base)}`)
      const pulling = engine.isOwn ? ['--pull=false'] : []
      const started = performance.now()
      const built = docker(['build', '--network', 'host', ...pulling, ...inRoot(shownBuild)])
      if (built.exitCode !== 0) throw new Error(built.stdout + built.stderr)
      console.log(`built in ${Math.round((performance.now() - started) / 1_000)} s`)
    }, 1_800_000)

    afterAll(async () => {
      for (const name of names) docker(['rm', '--force', '--volumes', name])
      docker(['volume', 'rm', 'first', 'second'])
      await engine[Symbol.asyncDispose]()
    })

    test('is built from what git has, and nothing else in the clone', () => {
      const folder = temporaryDirectory()
      writeFileSync(join(folder, 'Context'), 'FROM scratch\nCOPY . /\n')
      must(['build', '--file', join(folder, 'Context'), '--tag', 'workspace-gateway-context', ROOT])
      const container = must(['create', 'workspace-gateway-context', 'nothing']).trim()
      onTestFinished(() => void docker(['rm', container]))
      must(['export', '--output', join(folder, 'context.tar'), container])
      const listing = execFileSync('tar', ['--list', '--file', join(folder, 'context.tar')], { encoding: 'utf8' })
      const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
      const tracked = new Set(execFileSync('git', list, { cwd: ROOT, encoding: 'utf8' }).split('\0'))
      const copied = listing.split('\n').filter((path) => path !== '' && !path.endsWith('/'))
      // Every container gets the other files from its engine.
      const others = copied.filter((path) => !tracked.has(path) && !/^(?:\.dockerenv|(?:dev|etc)\/.+)$/.test(path))
      expect(others).toEqual([])
      expect(copied).toContain('packaging/Containerfile')
      const bytes = readFileSync(join(folder, 'context.tar')).length
      expect(bytes).toBeLessThan(MAX_CONTEXT_BYTES)
    })

    test('serves as an unprivileged user, becomes healthy, runs commands, and answers requests in flight when stopped', async () => {
      const gateway = await start('first', ['--env', 'WORKSPACE_GATEWAY_LOGIN_GUARD=open'])
      expect(gateway.logs().stdout).toBe(`listening on http://0.0.0.0:${gateway.port}\n`)
      await expect.poll(() => gateway.state('Health.Status'), PATIENT).toBe('healthy')
      const exec = (...args: string[]) => docker(['exec', '--interactive', gateway.name, ...args], SMALL_WORLD)
      expect(exec('id', '-u').stdout).toBe('1000\n')
      for (const folder of ['/', '/opt', '/tmp', '/home/node']) {
        expect(exec('touch', join(folder, 'written')).stderr).toContain('Read-only file system')
      }
      expect(exec('workspace-gateway', 'import', '-')).toMatchObject({ exitCode: 0 })
      expect(exec('workspace-gateway', 'users', 'list')).toMatchObject({
        exitCode: 0,
        stdout: expect.stringContaining(ANA),
      })
      for (const line of gateway.logs().stderr.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg')

      // A request that is in flight when the container is stopped is answered.
      const { accessToken } = await openSession(gateway.url, ANA)
      const projects = (await ask(`${gateway.url}/projects`, { headers: bearer(accessToken) })).text
      expect(projects).toContain('"ref":"site"')
      const body = JSON.stringify({ email: ANA })
      const socket = connect(gateway.port, '127.0.0.1')
      let answer = ''
      socket.on('data', (chunk) => {
        answer += chunk
      })
      const head = `POST /login HTTP/1.1\r\nHost: localhost:${gateway.port}\r\nContent-Type: application/json\r\n`
      socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`)
      await ask(`${gateway.url}/healthz`)
      const stopped = once(spawnDocker(['stop', gateway.name]), 'close')
      await expect.poll(() => gateway.logs().stderr, PATIENT).toContain('"msg":"stopping"')
      expect(answer).toBe('')
      const closed = once(socket, 'close')
      socket.write(body.slice(5))
      await closed
      expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]+"accessToken"/)
      await stopped
      expect(gateway.state('ExitCode')).toBe('0')

      // Documents and sessions outlive the container.
      docker(['rm', gateway.name])
      const next = await start('first')
      expect((await ask(`${next.url}/projects`, { headers: bearer(accessToken) })).text).toBe(projects)
      must(['stop', next.name])
      expect(next.state('ExitCode')).toBe('0')
      const dumped = must(['run', '--rm', '--read-only', '--volume', 'first:/data', 'workspace-gateway', 'dump'])
      expect(dumped.split('\n')).toContain(SMALL_WORLD.split('\n')[0])
    })

    test('serves with workers', async () => {
      const gateway = await start('second', [], ['serve', '--workers', '2'])
      await expect.poll(() => gateway.state('Health.Status'), PATIENT).toBe('healthy')
      must(['stop', gateway.name])
      expect(gateway.state('ExitCode')).toBe('0')
    })

    test('ends a waiting command on SIGTERM, although process 1 gets no signal without a listener', async () => {
      const name = 'workspace-gateway-test-waiting'
      names.push(name)
      must(['run', '--detach', '--interactive', '--name', name, 'workspace-gateway', 'import', '-'])
      // The command keeps its input in a file without a name.
      const waits = `const { readdirSync, readlinkSync } = fs
        const open = readdirSync('/proc/1/fd').map((fd) => readlinkSync('/proc/1/fd/' + fd))
        process.exitCode = open.some((path) => path.startsWith('/data/') && path.endsWith(' (deleted)')) ? 0 : 1`
      await expect.poll(() => docker(['exec', name, 'node', '--eval', waits]).exitCode, PATIENT).toBe(0)
      must(['stop', '--time', '60', name])
      expect(must(['inspect', '--format', '{{.State.ExitCode}}', name])).toBe('143\n')
    })
  })
}

/** Makes paths absolute, because the daemon reads the context where the client runs. */
function inRoot(args: readonly string[]): readonly string[] {
  return args.map((arg, at) => (at === args.length - 1 || args[at - 1] === '--file' ? join(ROOT, arg) : arg))
}
