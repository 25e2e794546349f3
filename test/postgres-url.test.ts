import { expect, test } from 'vitest'
import { readPostgresUrl, readReplicaUrl } from '../src/store/postgres/engine/connection-string.ts'

test('a URL names user, password, hosts and database as libpq reads it', () => {
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
  expect(readPostgresUrl('postgres://h').database).toBeUndefined()
})

test('a database is written to whatever its URL says; of a replica the URL may ask that it is one', () => {
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

test('TLS: on where the server has it, as the URL says otherwise', () => {
  const modeOf = (search: string) => {
    const { tls, isTlsOptional } = readPostgresUrl(`postgres://h/d${search}`)
    return [tls !== null, isTlsOptional, tls?.('h').rejectUnauthorized, tls?.('h').servername]
  }
  expect(modeOf('')).toEqual([true, true, false, 'h'])
  expect(modeOf('?sslmode=disable')).toEqual([false, true, undefined, undefined])
  expect(modeOf('?sslmode=require')).toEqual([true, false, false, 'h'])
  expect(modeOf('?sslmode=verify-ca')).toEqual([true, false, true, 'h'])
  expect(modeOf('?sslmode=verify-full')).toEqual([true, false, true, 'h'])
  const { tls } = readPostgresUrl('postgres://127.0.0.1,[::1]/d?sslmode=verify-full')
  expect(['127.0.0.1', '::1', '/run'].map((host) => tls?.(host).servername)).toEqual([undefined, undefined, undefined])
})

test.each([
  ['postgres://u:secret@h/d?sslmode=maybe', 'sslmode'],
  ['postgres://u:secret@h/d?target_session_attrs=standby', 'target_session_attrs'],
  ['postgres://u:secret@h/d?shared=1', 'shared'],
  ['postgres://u:secret%@h/d', '%25'],
  ['postgres://u:secret@h:port/d', 'host'],
  ['postgres://u:sec@ret@h/d', 'read'],
  ['postgres://u:secret@h/d?sslrootcert=/nothing/here', 'sslrootcert'],
])('what is wrong with %s is said without its password', (url, hint) => {
  const reading = () => readPostgresUrl(url)
  expect(reading).toThrow(hint)
  expect(reading).not.toThrow(/secret|sec@ret/)
})
