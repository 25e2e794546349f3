// Tests how the gateway finds the system user who owns the other end of a local connection.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Peer } from '../../src/auth/caller.ts'
import { ambiguousUserId, canAskForSocketOwners, createSocketOwner } from '../../src/auth/guards/socket-owner.ts'

const isLinux = process.platform === 'linux'
const isRoot = process.getuid?.() === 0
/** The id of `nobody` on every Linux. */
const OTHER_USER = 65_534

function peerOf(socket: Socket): Peer {
  return {
    address: socket.remoteAddress ?? '',
    port: socket.remotePort ?? 0,
    localAddress: socket.localAddress ?? '',
    localPort: socket.localPort ?? 0,
    isTrustedProxy: false,
    mayForward: false,
    hasNamedClient: false,
  }
}

/** A connection from this machine, for tests that write the rows of the tables themselves. */
const PEER: Peer = {
  address: '127.0.0.1',
  port: 1,
  localAddress: '127.0.0.1',
  localPort: 2,
  isTrustedProxy: false,
  mayForward: false,
  hasNamedClient: false,
}

/** Starts a server that leaves the accepted sockets to the test. */
async function listen(host: string): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer({ allowHalfOpen: true })
  server.listen(0, host)
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
  })
  return { server, port: (server.address() as AddressInfo).port }
}

async function accepted(server: Server): Promise<Socket> {
  const [socket] = (await once(server, 'connection')) as [Socket]
  onTestFinished(() => {
    socket.destroy()
  })
  return socket
}

test.runIf(isLinux).each([
  ['127.0.0.1', '127.0.0.1'],
  ['127.0.0.1', '::ffff:127.0.0.1'],
  ['::1', '::1'],
  ['::', '127.0.0.1'],
])('the owner of a connection from this user is this user, listening on %s, requested at %s', async (host, target) => {
  const { server, port } = await listen(host)
  const client = connect(port, target)
  const socket = await accepted(server)
  expect(await createSocketOwner()(peerOf(socket))).toBe(process.getuid?.())
  // Some clients half-close the connection after their only request; it still has an owner.
  client.end()
  await once(socket.resume(), 'end')
  expect(await createSocketOwner()(peerOf(socket))).toBe(process.getuid?.())
})

test.runIf(isLinux && isRoot)('the owner of a connection from another user is that user', async () => {
  const { server, port } = await listen('127.0.0.1')
  const program = `require('net').connect(${port}, '127.0.0.1').resume()`
  const child = spawn(process.execPath, ['-e', program], {
    uid: OTHER_USER,
    gid: OTHER_USER,
    cwd: '/',
    stdio: 'ignore',
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  expect(await createSocketOwner()(peerOf(await accepted(server)))).toBe(OTHER_USER)
})

test.runIf(isLinux)(
  'a connection that no process holds any more has no owner, whatever user the kernel lists for it',
  async () => {
    const { server, port } = await listen('127.0.0.1')
    const client = connect(port, '127.0.0.1')
    const peer = peerOf(await accepted(server))
    client.destroy()
    await once(client, 'close')
    expect(await createSocketOwner()(peer)).toBeNull()
  },
)

test("a row of the kernel's table matches a connection only if both ends are completely equal", async () => {
  const row =
    '   1: 0100007F:C350 0100007F:0FA0 01 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 20 4 30 10 -1\n'
  const owner = createSocketOwner(async (path) =>
    path.endsWith('tcp') ? `  sl  local_address rem_address   st\n${row}` : '',
  )
  const peer = {
    address: '127.0.0.1',
    port: 50_000,
    localAddress: '127.0.0.1',
    localPort: 4000,
    isTrustedProxy: false,
    mayForward: false,
    hasNamedClient: false,
  }
  expect(await owner(peer)).toBe(1000)
  const others: readonly Partial<Peer>[] = [
    { port: 50_001 },
    { localPort: 4001 },
    { address: '127.0.0.2' },
    { localAddress: '127.0.0.2' },
    { address: '::1', localAddress: '::1' },
    { address: '' },
    { port: 4000, localPort: 50_000 },
  ]
  for (const other of others) expect(await owner({ ...peer, ...other }), JSON.stringify(other)).toBeNull()
})

describe('without IPv6, so that one of the two tables does not exist', () => {
  const ROW = ' 0100007F:0001 0100007F:0002 01 0:0 0:0 0  1000        0 4711 \n'

  function readWithoutIpv6(text: string, code = 'ENOENT') {
    return async (path: string) => {
      if (path.endsWith('tcp')) return text
      throw Object.assign(new Error(`${code}: ${path}`), { code })
    }
  }

  test.runIf(isLinux)('the kernel can be asked', () => {
    expect(canAskForSocketOwners((path) => path.endsWith('/net/tcp'))).toBe(true)
    expect(canAskForSocketOwners((path) => path.endsWith('/net/tcp6'))).toBe(false)
  })

  test('a connection has the owner that the other table lists, or none', async () => {
    expect(await createSocketOwner(readWithoutIpv6(ROW))(PEER)).toBe(1000)
    expect(await createSocketOwner(readWithoutIpv6(''))(PEER)).toBeNull()
  })

  test('a table that exists and cannot be read is a failure', async () => {
    await expect(createSocketOwner(readWithoutIpv6('', 'EACCES'))(PEER)).rejects.toThrow('EACCES')
  })
})

describe('in a user namespace that does not map every user', () => {
  const rowOf = (user: number) => async () => ` 0100007F:0001 0100007F:0002 01 0:0 0:0 0  ${user}        0 4711 \n`

  test.each([
    ['a kernel without user namespaces', null, null],
    ['the first user namespace', '         0          0 4294967295\n', null],
    ['every user, in two ranges', '0 100000 65536\n65536 0 4294901759\n', null],
    ['one user', '     65534          0          1\n', OTHER_USER],
    ['the ids of a container', '0 1000 1\n1 100000 65536\n', OTHER_USER],
    ['nobody at all', '', OTHER_USER],
  ])('the id of the users that it does not map is ambiguous: %s', (_, idMap, expected) => {
    expect(ambiguousUserId(idMap)).toBe(expected)
  })

  test('a connection with that id has no owner, and one with another id has its owner', async () => {
    expect(await createSocketOwner(rowOf(OTHER_USER), OTHER_USER)(PEER)).toBeNull()
    expect(await createSocketOwner(rowOf(1000), OTHER_USER)(PEER)).toBe(1000)
    expect(await createSocketOwner(rowOf(OTHER_USER), null)(PEER)).toBe(OTHER_USER)
  })
})

test.runIf(isLinux)('the tables are found where a service has no /proc/net (ProcSubset=pid)', async () => {
  const asked: string[] = []
  const note = (path: string) => asked.push(path) > 0
  canAskForSocketOwners(note)
  const { server, port } = await listen('127.0.0.1')
  connect(port, '127.0.0.1')
  const socket = await accepted(server)
  const owner = createSocketOwner((path) => {
    note(path)
    return readFile(path, 'latin1')
  })
  expect(await owner(peerOf(socket))).toBe(process.getuid?.())
  expect(asked.filter((path) => !path.startsWith('/proc/self/'))).toEqual([])
})

test('a request during a read of the tables waits for the next read, shared by all waiting requests', async () => {
  const reads: ((tables: string) => void)[] = []
  const owner = createSocketOwner((path) =>
    path.endsWith('tcp') ? new Promise((resolve) => reads.push(resolve)) : Promise.resolve(''),
  )
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  const first = owner(PEER)
  await settled()
  const later = [owner(PEER), owner(PEER), owner(PEER)]
  await settled()
  expect(reads).toHaveLength(1)
  reads[0]?.('')
  await first
  await settled()
  expect(reads).toHaveLength(2)
  reads[1]?.('')
  expect(await Promise.all(later)).toEqual([null, null, null])
})

test('the tables are read once per connection', async () => {
  let reads = 0
  const row = ' 0100007F:0001 0100007F:0002 01 0:0 0:0 0  1000        0 4711 \n'
  const owner = createSocketOwner(async () => {
    reads += 1
    return row
  })
  expect([await owner(PEER), await owner(PEER), reads]).toEqual([1000, 1000, 1])
  expect([await owner({ ...PEER }), reads]).toEqual([1000, 2])
})
