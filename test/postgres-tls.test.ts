// Tests TLS to a real PostgreSQL, with certificates that are made here.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { readPostgresUrl } from '../src/store/postgres/engine/connection-string.ts'
import { createPool } from '../src/store/postgres/engine/pool.ts'
import { openPostgresStore } from '../src/store/postgres/open.ts'
import { type Certificate, createAuthority } from './support/certificates.ts'
import { run, serveForTest } from './support/command-line.ts'
import { startCuttableRelay } from './support/cuttable-relay.ts'
import { ask } from './support/gateway.ts'
import { POSTGRES_DIRECTORY } from './support/postgres.ts'
import { type PostgresServer, startPostgres } from './support/postgres-server.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'

const OPTIONS = { connectTimeoutMs: 5_000, statementTimeoutMs: 10_000, poolSize: 2 }
const authority = createAuthority('authority of the tests')
const stranger = createAuthority('another authority')
const client = authority.sign('postgres', [])
const strangeClient = stranger.sign('postgres', [])

const SCRAM = 'hostssl all all 127.0.0.1/32 scram-sha-256'

function tlsServer(hosts: readonly string[], { rules = SCRAM, days = 30 } = {}): Promise<PostgresServer> {
  const { certificate, key } = authority.sign('database', hosts, days)
  return startPostgres(
    { directory: POSTGRES_DIRECTORY ?? '' },
    {
      files: {
        'server.crt': certificate,
        'server.key': key,
        'root.crt': authority.certificate,
        'pg_hba.conf': `${rules}\n`,
      },
      settings: { ssl: 'on', ssl_ca_file: 'root.crt', log_connections: 'on' },
    },
  )
}

/** Returns why a store cannot be opened, or null if it can. Checks that no error contains the password. */
async function refusal(url: string): Promise<string | null> {
  try {
    await using store = await openPostgresStore(url, OPTIONS)
    await store.ping()
    return null
  } catch (error) {
    const { password } = new URL(url.replace(/,[^/]*/, ''))
    expect(deepText(error)).not.toContain(password)
    return deepText(error)
  }
}

describe.skipIf(POSTGRES_DIRECTORY === null)('TLS to PostgreSQL', () => {
  let files: Readonly<Record<'ca' | 'otherCa' | 'cert' | 'key' | 'otherCert' | 'otherKey', string>>
  let server: PostgresServer
  let ofOthers: PostgresServer

  beforeAll(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'workspace-gateway-tls-'))
    const write = (name: string, text: string): string => {
      const path = join(directory, name)
      writeFileSync(path, text, { mode: 0o600 })
      return path
    }
    files = {
      ca: write('ca.crt', authority.certificate),
      otherCa: write('other-ca.crt', stranger.certificate),
      cert: write('client.crt', client.certificate),
      key: write('client.key', client.key),
      otherCert: write('other-client.crt', strangeClient.certificate),
      otherKey: write('other-client.key', strangeClient.key),
    }
    const both = await Promise.all([tlsServer(['127.0.0.1', 'localhost']), tlsServer(['database.example', '10.9.8.7'])])
    ;[server, ofOthers] = both
    return async () => {
      rmSync(directory, { recursive: true })
      for (const one of both) await one[Symbol.asyncDispose]()
    }
  })

  const urlOf = (of: PostgresServer, parameters: Readonly<Record<string, string>>, host = '127.0.0.1'): string =>
    `${of.url('postgres').replace('@127.0.0.1', `@${host}`)}?${new URLSearchParams(parameters)}`

  test('is used if the server offers it, and a server that requires it accepts nothing else', async () => {
    for (const sslmode of ['prefer', 'require', 'verify-ca', 'verify-full']) {
      expect(await refusal(urlOf(server, { sslmode, sslrootcert: files.ca })), sslmode).toBeNull()
    }
    expect(await refusal(urlOf(server, { sslmode: 'require' }))).toBeNull()
    expect(await refusal(server.url('postgres'))).toBeNull()
    expect(await refusal(urlOf(server, { sslmode: 'disable' }))).toContain('no encryption')
  })

  test('accepts only a server certificate that the given authority has signed', async () => {
    for (const sslmode of ['require', 'verify-ca', 'verify-full']) {
      expect(await refusal(urlOf(server, { sslmode, sslrootcert: files.otherCa })), sslmode).toMatch(/certificate/)
    }
    for (const sslmode of ['verify-ca', 'verify-full']) {
      expect(await refusal(urlOf(server, { sslmode })), `${sslmode} without an authority of ours`).toMatch(
        /certificate/,
      )
    }
  })

  test('verify-full requires a certificate for the name or address that was connected to', async () => {
    for (const host of ['127.0.0.1', 'localhost']) {
      expect(await refusal(urlOf(server, { sslmode: 'verify-full', sslrootcert: files.ca }, host)), host).toBeNull()
      expect(await refusal(urlOf(ofOthers, { sslmode: 'verify-full', sslrootcert: files.ca }, host)), host).toMatch(
        /does not match/,
      )
      expect(await refusal(urlOf(ofOthers, { sslmode: 'verify-ca', sslrootcert: files.ca }, host)), host).toBeNull()
    }
    await using onlyByName = await tlsServer(['localhost'])
    const byAddress = urlOf(onlyByName, { sslmode: 'verify-full', sslrootcert: files.ca })
    expect(await refusal(byAddress)).toMatch(/does not match/)
    expect(await refusal(byAddress.replace('127.0.0.1', 'localhost'))).toBeNull()
  })

  test('channel binding is used if the server offers it, and its absence is an error if it is required', async () => {
    const refused = /offers no channel binding/
    for (const channel_binding of ['disable', 'prefer', 'require']) {
      expect(await refusal(urlOf(server, { sslmode: 'require', channel_binding })), channel_binding).toBeNull()
    }
    const logged = (of: PostgresServer) => of.log().match(/connection authorized/g)?.length ?? 0
    // A server that trusts everybody, one that asks for the password itself, and one that does not speak TLS.
    for (const method of ['trust', 'password', 'md5']) {
      await using lax = await tlsServer(['127.0.0.1'], { rules: `host all all 127.0.0.1/32 ${method}` })
      const before = logged(lax)
      // If the stored password is for SCRAM, the server asks for SCRAM even if its rule says md5.
      const expected = method === 'md5' ? null : expect.stringMatching(refused)
      expect(await refusal(urlOf(lax, { sslmode: 'require', channel_binding: 'require' })), method).toEqual(expected)
      if (method === 'password') expect(logged(lax)).toBe(before)
      expect(await refusal(urlOf(lax, { sslmode: 'require', channel_binding: 'prefer' })), method).toBeNull()
    }
    await using plain = await startPostgres(
      { directory: POSTGRES_DIRECTORY ?? '' },
      { files: { 'pg_hba.conf': 'host all all 127.0.0.1/32 scram-sha-256\n' } },
    )
    expect(await refusal(urlOf(plain, { channel_binding: 'require' }))).toMatch(refused)
    expect(await refusal(urlOf(plain, { channel_binding: 'prefer' }))).toBeNull()
  })

  test('of several hosts, the one with the right certificate is used', async () => {
    const url = urlOf(server, { sslmode: 'verify-full', sslrootcert: files.ca }).replace(
      '@127.0.0.1',
      `@127.0.0.1:${ofOthers.port},127.0.0.1`,
    )
    expect(await refusal(url)).toBeNull()
  })

  test('an expired certificate is refused by a mode that verifies it', async () => {
    await using expired = await tlsServer(['127.0.0.1'], { days: 0.5 })
    expect(await refusal(urlOf(expired, { sslmode: 'verify-full', sslrootcert: files.ca }))).toMatch(/expired/)
    expect(await refusal(urlOf(expired, { sslmode: 'require' }))).toBeNull()
  })

  test('a server may require the client’s certificate', async () => {
    await using strict = await tlsServer(['127.0.0.1'], { rules: `${SCRAM} clientcert=verify-full` })
    const sslmode = 'verify-full'
    const sslrootcert = files.ca
    expect(await refusal(urlOf(strict, { sslmode, sslrootcert }))).not.toBeNull()
    expect(
      await refusal(urlOf(strict, { sslmode, sslrootcert, sslcert: files.otherCert, sslkey: files.otherKey })),
    ).not.toBeNull()
    expect(await refusal(urlOf(strict, { sslmode, sslrootcert, sslcert: files.cert, sslkey: files.key }))).toBeNull()
  })

  test('certificates that are renewed while the gateway runs are used by the next connection', async () => {
    const directory = temporaryDirectory()
    const place = (name: string) => join(directory, name)
    const renew = async (ca: string, { certificate, key }: Certificate) => {
      await writeFile(place('ca.crt'), ca)
      await writeFile(place('client.crt'), certificate)
      await writeFile(place('client.key'), key)
    }
    await renew(authority.certificate, client)
    const parameters = { sslrootcert: place('ca.crt'), sslcert: place('client.crt'), sslkey: place('client.key') }
    await using pool = createPool(readPostgresUrl(urlOf(server, { sslmode: 'verify-full', ...parameters })), OPTIONS)
    const connects = async () => {
      const connection = await pool.dedicated()
      connection.close()
    }
    await connects()
    await renew(authority.certificate, strangeClient)
    await expect(connects()).rejects.toThrow()
    await renew(stranger.certificate, client)
    await expect(connects()).rejects.toThrow(/no database server/)
    await renew(authority.certificate, authority.sign('postgres', []))
    await connects()
    await rm(place('client.key'))
    const missing = await connects().catch(deepText)
    expect(missing).toContain('the file of sslkey cannot be read')
  })

  test('a server without TLS is connected to in the clear, unless the URL requires TLS', async () => {
    await using plain = await startPostgres({ directory: POSTGRES_DIRECTORY ?? '' })
    expect(await refusal(plain.url('postgres'))).toBeNull()
    for (const sslmode of ['require', 'verify-ca', 'verify-full']) {
      expect(await refusal(urlOf(plain, { sslmode })), sslmode).toContain('does not support SSL')
    }
  })

  test('a server without TLS is asked for it once, and again when it accepts nothing in the clear any more', async () => {
    const { certificate, key } = authority.sign('database', ['127.0.0.1'])
    await using plain = await startPostgres(
      { directory: POSTGRES_DIRECTORY ?? '' },
      { files: { 'server.crt': certificate, 'server.key': key } },
    )
    const relay = await startCuttableRelay(plain.port)
    const url = Object.assign(new URL(plain.url('postgres')), { port: String(relay.port) }).href
    await using pool = createPool(readPostgresUrl(url), OPTIONS)
    async function isEncrypted() {
      const connection = await pool.dedicated()
      const [row] = await connection.script('select ssl::text from pg_stat_ssl where pid = pg_backend_pid()')
      connection.close()
      return row?.ssl
    }
    expect([await isEncrypted(), await isEncrypted(), await isEncrypted()]).toEqual(['false', 'false', 'false'])
    expect(relay.accepted()).toBe(4)
    await writeFile(join(plain.dataDirectory, 'pg_hba.conf'), `${SCRAM}\n`)
    const onServer = await pool.dedicated()
    await onServer.script('alter system set ssl = on')
    await onServer.script('select pg_reload_conf()')
    onServer.close()
    await expect.poll(isEncrypted).toBe('true')
  })

  test('the program reports what is wrong without the password, and serves over TLS', async () => {
    const right = urlOf(server, { sslmode: 'verify-full', sslrootcert: files.ca })
    const { password } = new URL(right)
    const wrong = urlOf(server, { sslmode: 'verify-full', sslrootcert: files.otherCa })
    const { exitCode, stdout, stderr } = await run(['serve', '--port', '0', '--log-level', 'debug'], {
      env: { WORKSPACE_GATEWAY_DATABASE: wrong },
    })
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toContain('certificate')
    expect(stderr).not.toContain(password)
    // The gateway does not read from a replica with the wrong certificate.
    const gateway = await serveForTest(['--log-level', 'debug'], {
      env: { WORKSPACE_GATEWAY_DATABASE: right, WORKSPACE_GATEWAY_DATABASE_REPLICA: wrong },
    })
    expect((await ask(`${gateway.url}/readyz`)).status).toBe(200)
    while (!gateway.stderr().includes('the replica does not answer')) await ask(`${gateway.url}/readyz`)
    await server.crash()
    expect((await ask(`${gateway.url}/readyz`)).status).toBe(503)
    await server.start()
    while ((await ask(`${gateway.url}/readyz`)).status !== 200);
    expect(gateway.stderr()).not.toContain(password)
  })
})

/** Everything that the error contains, including its causes. */
function deepText(error: unknown): string {
  return inspect(error, { depth: 20 })
}
