// Tests how the URL of a PostgreSQL database or replica is read, and what is refused.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readPostgresUrl, readReplicaUrl } from '../src/store/postgres/engine/connection-string.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'

test('a URL is read for user, password, hosts and database as libpq reads it', () => {
  const target = readPostgresUrl('postgresql://us%40er:p%3Aw%2F@a.example,[::1]:6432,:7000/my%20db?sslmode=disable')
  expect(target).toMatchObject({
    hosts: [
      { host: 'a.example', port: 5432 },
      { host: '::1', port: 6432 },
      { host: 'localhost', port: 7000 },
    ],
    user: 'us@er',
    password: 'p:w/',
    database: 'my db',
    tls: null,
  })
  expect(readPostgresUrl('postgres:///db?host=/run/postgresql').hosts).toEqual([
    { host: '/run/postgresql', port: 5432 },
  ])
  // A path is never split at a colon.
  expect(readPostgresUrl('postgres:///db?host=/run/pg:6000&port=7000').hosts).toEqual([
    { host: '/run/pg:6000', port: 7000 },
  ])
  expect(readPostgresUrl('postgres://h').database).toBeUndefined()
})

test.each([
  ['postgres://%2Frun%2Fpg:6000,%2Frun%2Fother%3A1/db', ['/run/pg', 6000], ['/run/other:1', 5432]],
  ['postgres://u@:6000/db?host=/run/pg', ['/run/pg', 6000]],
  ['postgres://:6000/db?host=/run/pg,b.example', ['/run/pg', 6000], ['b.example', 6000]],
  ['postgres:///db?host=a.example,/run/pg&port=6000,7000', ['a.example', 6000], ['/run/pg', 7000]],
  ['postgres:///db?host=a.example,b.example&port=,7000', ['a.example', 5432], ['b.example', 7000]],
  ['postgres://a.example:6000,b.example/db', ['a.example', 6000], ['b.example', 5432]],
  ['postgres://a.example:6000,b.example/db?port=7000', ['a.example', 7000], ['b.example', 7000]],
])('the hosts and ports of %s are those that libpq connects to', (url, ...expected) => {
  expect(readPostgresUrl(url).hosts.map(({ host, port }) => [host, port])).toEqual(expected)
})

test('parameters are percent-decoded once, and a plus sign stays a plus sign, as in libpq', () => {
  const authorities = join(temporaryDirectory(), 'c++ and 100%41.pem')
  writeFileSync(authorities, 'of an authority')
  const written = authorities.replaceAll('%', '%25').replaceAll(' ', '%20')
  const target = readPostgresUrl(
    `postgres:///d?application_name=a+b%20c%2Bd&options=-c+x%3D1&sslmode=require&sslrootcert=${written}`,
  )
  expect(target).toMatchObject({ applicationName: 'a+b c+d', startOptions: '-c+x=1' })
  expect(target.tls?.('h').ca).toBe('of an authority')
  const hostsOf = (host: string) => readPostgresUrl(`postgres:///d?host=${host}`).hosts.map(({ host: name }) => name)
  expect(hostsOf('/run/100%25')).toEqual(['/run/100%'])
  expect(hostsOf('/run/%2541,/run/a+b')).toEqual(['/run/%41', '/run/a+b'])
  expect(readPostgresUrl('postgres://%2Frun%2F100%25/d').hosts).toEqual([{ host: '/run/100%', port: 5432 }])
})

test('a database is always opened for writing, and the URL of a replica may require a standby', () => {
  const accessOf = (read: typeof readPostgresUrl, attrs: string) => read(`postgres://h/d${attrs}`).access
  expect(['', '?target_session_attrs=any'].map((attrs) => accessOf(readPostgresUrl, attrs))).toEqual([
    'read-write',
    'read-write',
  ])
  expect(
    ['', '?target_session_attrs=any', '?target_session_attrs=standby', '?target_session_attrs=read-only'].map((attrs) =>
      accessOf(readReplicaUrl, attrs),
    ),
  ).toEqual(['any', 'any', 'standby', 'standby'])
  expect(() => readReplicaUrl('postgres://h/d?target_session_attrs=read-write')).toThrow(/^database-replica: target/)
})

test('TLS is used if the server offers it, unless the URL says otherwise', () => {
  const modeOf = (search: string) => {
    const { tls, isTlsOptional } = readPostgresUrl(`postgres://h/d${search}`)
    return [tls !== null, isTlsOptional, tls?.('h').rejectUnauthorized, tls?.('h').servername]
  }
  expect(modeOf('')).toEqual([true, true, false, 'h'])
  expect(modeOf('?sslmode=disable')).toEqual([false, true, undefined, undefined])
  expect(modeOf('?sslmode=require')).toEqual([true, false, false, 'h'])
  expect(modeOf('?sslmode=verify-ca')).toEqual([true, false, true, 'h'])
  expect(modeOf('?sslmode=verify-full')).toEqual([true, false, true, 'h'])
  // Only the strictest mode checks whether the certificate is for this host.
  const isNameChecked = (mode: string) =>
    readPostgresUrl(`postgres://h/d?sslmode=${mode}`).tls?.('h').checkServerIdentity === undefined
  expect(['require', 'verify-ca', 'verify-full'].map(isNameChecked)).toEqual([false, false, true])
  // As in libpq, the strictest mode is the only one for the authorities that everybody trusts.
  const trusting = readPostgresUrl('postgres://h/d?sslrootcert=system')
  expect(trusting).toMatchObject({ isTlsOptional: false })
  expect(trusting.tls?.('h')).toEqual({ servername: 'h', rejectUnauthorized: true })
  const { tls } = readPostgresUrl('postgres://127.0.0.1,[::1]/d?sslmode=verify-full')
  expect(['127.0.0.1', '::1', '/run'].map((host) => tls?.(host).servername)).toEqual([undefined, undefined, undefined])
})

test('the URLs that Neon and Supabase hand out are accepted', () => {
  const neon =
    'postgresql://alex:AbC123dEf@ep-cool-darkness-a1b2c3d4-pooler.us-east-2.aws.neon.tech/dbname?sslmode=require&channel_binding=require'
  expect(readPostgresUrl(neon)).toMatchObject({
    hosts: [{ host: 'ep-cool-darkness-a1b2c3d4-pooler.us-east-2.aws.neon.tech', port: 5432 }],
    channelBinding: 'require',
    isTlsOptional: false,
    connectTimeoutMs: undefined,
    startOptions: undefined,
    isPooled: false,
  })
  const patient = `${neon}&connect_timeout=15&application_name=studio&options=endpoint%3Dep-cool-darkness-a1b2c3d4`
  expect(readPostgresUrl(patient)).toMatchObject({
    connectTimeoutMs: 15_000,
    applicationName: 'studio',
    startOptions: 'endpoint=ep-cool-darkness-a1b2c3d4',
  })
  const supabase =
    'postgresql://postgres.abcdefghijkl:secret@aws-0-eu-central-1.pooler.supabase.com:6543/postgres?pgbouncer=true'
  expect(readPostgresUrl(supabase)).toMatchObject({ user: 'postgres.abcdefghijkl', isPooled: true })
  expect(readPostgresUrl('postgres://h/d?pgbouncer=false')).toMatchObject({
    isPooled: false,
    channelBinding: 'disable',
  })
  expect(readReplicaUrl(patient)).toMatchObject({ channelBinding: 'require', connectTimeoutMs: 15_000 })
})

test('connect_timeout may be between one second and ten minutes', () => {
  const timeouts = [1, 600].map((seconds) => readPostgresUrl(`postgres://h/d?connect_timeout=${seconds}`))
  expect(timeouts.map(({ connectTimeoutMs }) => connectTimeoutMs)).toEqual([1_000, 600_000])
})

test.each([
  ['postgres://u:secret@h/d?sslmode=maybe', 'sslmode'],
  ['postgres://u:secret@h/d?channel_binding=maybe', 'channel_binding must be disable, prefer, require'],
  ['postgres://u:secret@h/d?sslmode=disable&channel_binding=require', 'channel_binding=require needs TLS'],
  ['postgres://u:secret@h:65536/d', 'the port must be a number from 1 to 65535'],
  ['postgres://u:secret@h:0/d', 'the port must be a number from 1 to 65535'],
  ['postgres://u:secret@h/d?host=a,b,c&port=1,2', 'there must be one port, or one for each host'],
  ['postgres://u:secret@h/d?port=soon', 'the port must be a number from 1 to 65535'],
  ['postgres://u:secret@h/d?connect_timeout=0', 'connect_timeout must be a number of seconds from 1 to 600'],
  ['postgres://u:secret@h/d?connect_timeout=601', 'connect_timeout'],
  ['postgres://u:secret@h/d?connect_timeout=1.5', 'connect_timeout'],
  ['postgres://u:secret@h/d?pgbouncer=maybe', 'pgbouncer must be true or false'],
  ['postgres://u:secret@h/d?connection_limit=1', 'unknown parameter "connection_limit"'],
  ['postgres://u:secret@h/d?target_session_attrs=standby', 'target_session_attrs'],
  ['postgres://u:secret@h/d?shared=1', 'shared'],
  ['postgres://u:secret%@h/d', '%25'],
  ['postgres://u:secret@h:port/d', 'host'],
  ['postgres://u:sec@ret@h/d', 'the URL is not valid'],
  ['postgres://u:secret@h/d?sslrootcert=/nothing/here', 'sslrootcert'],
  ['postgres://u:secret@h/d?sslmode=verify-ca&sslrootcert=system', 'sslrootcert=system needs sslmode=verify-full'],
  ['postgres://u:secret@h/d?sslmode=disable&sslrootcert=system', 'sslrootcert=system needs sslmode=verify-full'],
])('the error for %s names the problem without the password', (url, hint) => {
  const reading = () => readPostgresUrl(url)
  expect(reading).toThrow(hint)
  expect(reading).not.toThrow(/secret|sec@ret/)
})
