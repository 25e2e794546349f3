// Tests how the gateway learns from the kernel what its clients have not taken yet.
import { once } from 'node:events'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { TCP6 } from '../src/auth/socket-tables.ts'
import { readUntakenBytes } from '../src/http/server/pacing/untaken-bytes.ts'

const MIB = 1_048_576

/** Both ends of a connection: the server's, and that of a client that reads nothing yet. */
async function openConnection(host: string, target: string): Promise<readonly [served: Socket, client: Socket]> {
  const server = createServer()
  server.listen(0, host)
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, target)
  client.pause()
  const [served] = (await once(server, 'connection')) as [Socket]
  onTestFinished(() => {
    client.destroy()
    served.destroy()
    server.close()
  })
  return [served, client]
}

test.runIf(process.platform === 'linux').each([
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '::1'],
  ['::', '127.0.0.1'],
])('a server on %s that was reached at %s sees what its client has not taken', async (host, target) => {
  const [served, client] = await openConnection(host, target)
  const [other] = await openConnection(host, target)
  served.write(Buffer.alloc(16 * MIB))
  const untakenOf = async (socket: Socket) => (await readUntakenBytes([served, other])).get(socket)
  await expect.poll(() => untakenOf(served)).toBeGreaterThan(MIB)
  expect(await untakenOf(other)).toBe(0)
  client.resume()
  await expect.poll(() => untakenOf(served)).toBe(0)
})

test.runIf(process.platform === 'linux')(
  'without IPv6, for which the kernel then has no table, those of IPv4 are told',
  async () => {
    const [served] = await openConnection('127.0.0.1', '127.0.0.1')
    const { readFile } = promises
    const withoutIpv6 = vi.spyOn(promises, 'readFile').mockImplementation(async (path, ...options) => {
      if (path === TCP6) throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
      return readFile(path, ...options)
    })
    syncBuiltinESMExports()
    onTestFinished(() => {
      withoutIpv6.mockRestore()
      syncBuiltinESMExports()
    })
    expect(await readUntakenBytes([served])).toEqual(new Map([[served, 0]]))
    expect(withoutIpv6).toHaveBeenCalledWith(TCP6, 'latin1')
  },
)

test('connections that the kernel does not list are missing', async () => {
  const [served] = await openConnection('127.0.0.1', '127.0.0.1')
  served.destroy()
  expect(await readUntakenBytes([served])).toEqual(new Map())
})
