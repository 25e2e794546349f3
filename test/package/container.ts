// Runs the last stage of the Containerfile step by step in a chroot: its user, variables, folder, command and health
// check.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { makeDirectory, removeDirectory } from '../support/temporary-directory.ts'
import { copyProgram } from './base-image.ts'
import { install, type Packed, ROOT } from './install.ts'

/** The id of the user `node` in the image. */
const USER_ID = 1_000
const isPossible = process.platform === 'linux' && process.getuid?.() === 0
if (!isPossible) console.warn('a chroot needs root on Linux: the Containerfile is not checked')

const stage =
  readFileSync(join(ROOT, 'packaging/Containerfile'), 'utf8')
    .split(/^FROM /m)
    .at(-1) ?? ''

/** `packed` is called when the test runs. */
export function describeContainer(packed: () => Packed): void {
  test.skipIf(!isPossible)(
    'the container serves as a user that may write only to /data, and its health check works',
    async () => {
      const folder = makeDirectory()
      onTestFinished(() => removeDirectory(folder))
      const root = join(folder, 'root')
      const [, target = ''] = /^COPY --from=build (\S+) \1$/m.exec(stage) ?? []
      const [, dataFolder = ''] =
        /^RUN install --directory --owner=node --group=node --mode=0700 (\S+)$/m.exec(stage) ?? []
      mkdirSync(join(root, target), { recursive: true })
      install(packed().tarball, join(root, target), process.execPath)
      copyProgram(process.execPath, join(root, 'bin/node'), root)
      mkdirSync(join(root, dataFolder), { mode: 0o700 })
      chownSync(join(root, dataFolder), USER_ID, USER_ID)
      // `mkdtemp` makes a folder that only root may enter; the user has to enter it too.
      chmodSync(folder, 0o755)

      expect(stage).toMatch(/^USER node$/m)
      const port = String(await freePort('0.0.0.0'))
      const variables = [...stage.matchAll(/^ENV (\w+)=(\S+)$/gm)].map(([, name = '', value = '']) => [name, value])
      const env = { ...Object.fromEntries(variables), WORKSPACE_GATEWAY_PORT: port }
      const jailed = (command: readonly string[], more = {}) => {
        const [program = '', ...args] = command
        const options = [`--userspec=${USER_ID}:${USER_ID}`, root, `/bin/${program}`, ...args]
        return spawn('/usr/sbin/chroot', options, { env: { ...env, ...more } })
      }
      const entry = commandOf('ENTRYPOINT')
      const refused = jailed([...entry, ...commandOf('CMD')])
      const reason = once(refused.stderr, 'data')
      expect((await once(refused, 'close'))[0]).toBe(2)
      expect(String((await reason)[0])).toContain('--host 0.0.0.0 can be reached from other machines')

      expect((await once(jailed(commandOf('HEALTHCHECK')), 'close'))[0]).toBe(1)
      const gateway = jailed([...entry, ...commandOf('CMD')], { WORKSPACE_GATEWAY_LOGIN_GUARD: 'none' })
      const closed = once(gateway, 'close')
      onTestFinished(() => void gateway.kill('SIGKILL'))
      const [announced] = await Promise.race([once(gateway.stdout, 'data'), closed])
      expect(String(announced)).toBe(`listening on http://0.0.0.0:${port}\n`)
      expect((await once(jailed(commandOf('HEALTHCHECK')), 'close'))[0]).toBe(0)
      expect(statSync(join(root, dataFolder, 'workspace.db')).uid).toBe(USER_ID)
      gateway.kill('SIGTERM')
      expect((await closed)[0]).toBe(0)
      const written = execFileSync('find', [root, '-user', String(USER_ID)], { encoding: 'utf8' })
        .trim()
        .split('\n')
      expect(written.filter((path) => !path.startsWith(join(root, dataFolder)))).toEqual([])
    },
  )
}

/** Returns the command of an instruction in JSON form, which needs no shell. */
function commandOf(instruction: string): readonly string[] {
  const [, list = '[]'] = new RegExp(`^${instruction} [^[]*(\\[.*\\])$`, 'm').exec(stage) ?? []
  return JSON.parse(list)
}
