// Checks that a gateway's configuration does not expose sign-in by accident, and names the options that fix a problem.
import { type Stats, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type GuardOptions, LOGIN_GUARDS, type LoginGuardName } from '../auth/guards/guards.ts'
import { isLoopbackBinding } from '../auth/guards/loopback.ts'
import { UsageError } from '../errors.ts'
import { databasePath } from '../store/open-store.ts'
import { shellWords } from './doctor/shell-words.ts'
import type { ServeConfig } from './options/serve-options.ts'
import { DEFAULT_ATTEMPTS_PER_MINUTE } from './options/sign-in/rate-limit-options.ts'

type Exposure = Pick<
  ServeConfig,
  'host' | 'loginGuard' | 'trustedProxy' | 'proxyProtocol' | 'rateLimits' | 'attemptsPerMinute' | 'database'
>

/** Each rule returns its problems, with the lines that fix them. A rule reads only the options that it needs. */
export const EXPOSURE_RULES: readonly ((config: Exposure, options: () => GuardOptions) => readonly string[])[] = [
  ({ loginGuard }, options) => {
    const rows = loginGuard.map((name) => LOGIN_GUARDS[name])
    return rows.flatMap(({ problems }) => problems?.(options()) ?? [])
  },
  ({ loginGuard }) =>
    loginGuard.length > 1 && loginGuard.some((name) => name === 'none' || name === 'open')
      ? [`--login-guard ${loginGuard.join(',')}: none and open cannot be combined with other guards`]
      : [],
  ({ host, loginGuard }) =>
    isLoopbackBinding(host) || loginGuard.every((name) => LOGIN_GUARDS[name].guardsNetwork) ? [] : [exposedHost(host)],
  ({ proxyProtocol, trustedProxy }) =>
    proxyProtocol && trustedProxy.length === 0
      ? ['--proxy-protocol: name the proxies that use it with --trusted-proxy, such as --trusted-proxy 127.0.0.1']
      : [],
]

/** Throws `UsageError` for an invalid file of a login guard. Without this check it would fail at the first sign-in. */
export async function requireGuardFiles({ loginGuard }: Pick<Exposure, 'loginGuard'>, options: () => GuardOptions) {
  const wrong = await Promise.all(loginGuard.map((name) => LOGIN_GUARDS[name].fileProblems?.(options()) ?? []))
  if (wrong.flat().length > 0) throw new UsageError(wrong.flat().join('\n'))
}

function exposedHost(host: string): string {
  const guards = Object.entries(LOGIN_GUARDS).filter(([, { guardsNetwork }]) => guardsNetwork)
  const choices: readonly (readonly [string, string])[] = [
    ...guards.map(([name, { summary }]) => [`--host ${host} --login-guard ${name}`, summary] as const),
    ['--host 127.0.0.1 --login-guard local', LOGIN_GUARDS.local.summary],
  ]
  const width = Math.max(...choices.map(([options]) => options.length))
  return [
    `--host ${host} can be reached from other machines, but the login guard "local" lets in only the same user on this one.`,
    'Start the gateway with one of these instead:',
    ...choices.map(([options, summary]) => `  ${options.padEnd(width)}  ${summary}`),
  ].join('\n')
}

/**
 * Range of user ids that systemd assigns to a single service (`DynamicUser=`), from its documentation. No one else uses
 * them.
 */
const FIRST_DYNAMIC_USER = 61_184
const LAST_DYNAMIC_USER = 65_519

/** Mode bits of a file that every user may read, and of a folder that every user may enter. */
const READABLE_BY_ALL = 0o004
const ENTERABLE_BY_ALL = 0o001

/** Warnings for every start of a gateway that runs as user `userId`; undefined on systems without user ids. */
export function exposureWarnings(
  { loginGuard, trustedProxy, database }: Exposure,
  userId: number | undefined,
): readonly string[] {
  const isDynamicUser = userId !== undefined && userId >= FIRST_DYNAMIC_USER && userId <= LAST_DYNAMIC_USER
  const isLocalOnly = loginGuard.every((name: LoginGuardName) => name === 'local')
  const mailAt = loginGuard.indexOf('mail')
  const neverAsked = mailAt === -1 ? [] : loginGuard.slice(mailAt + 1).filter((name) => name !== 'mail')
  return [
    ...loginGuard.flatMap((name) => LOGIN_GUARDS[name].warnings?.() ?? []),
    ...neverAsked.map(
      (name) =>
        `login guard "${name}": it is never asked, since "mail" decides before it; name mail last in --login-guard`,
    ),
    ...(isLocalOnly && isDynamicUser
      ? [
          'login guard "local": nobody can sign in, since no client runs as the user of this service; choose another with --login-guard',
        ]
      : []),
    ...(isLocalOnly && trustedProxy.length > 0
      ? ['login guard "local": nobody behind --trusted-proxy can sign in; choose another with --login-guard']
      : []),
    ...(userId === undefined ? [] : readableDatabase(database)),
    ...linkedDatabase(database),
  ]
}

/**
 * SQLite names the write-ahead log after the database. Two programs that open one file by two names have a log each, and
 * overwrite what the other has acknowledged. The other name may be that of a copy by `cp -l`, which nobody opens.
 */
function linkedDatabase(database: string): readonly string[] {
  const path = databasePath(database)
  const found = path === null ? null : statOf(path)
  if (path === null || !found?.isFile() || found.nlink < 2) return []
  return [
    `the database has another name (a hard link), and a program that opens it by that name destroys data: list its names with find / -xdev -samefile ${shellWords(path)}, and remove the others`,
  ]
}

/**
 * Whoever reads the signing keys can sign in as anybody. The gateway creates its files for itself alone, but a database
 * that was copied here, such as a backup, keeps the mode of the copy, and SQLite gives it to the files beside it.
 */
function readableDatabase(database: string): readonly string[] {
  const path = databasePath(database)
  if (path === null) return []
  const files = ['', '-wal', '-shm'].map((end) => path + end)
  const readable = files.filter((file) => statOf(file)?.isFile() && hasModeBit(file, READABLE_BY_ALL))
  // The folders last: in a working directory that was removed, they have no names.
  if (readable.length === 0 || !foldersOf(path).every((folder) => hasModeBit(folder, ENTERABLE_BY_ALL))) return []
  return [
    `every user of this machine can read the database, with its signing keys and sessions: run chmod 600 ${shellWords(...readable)}`,
  ]
}

/** All folders above a file. */
function foldersOf(path: string): readonly string[] {
  const folder = dirname(resolve(path))
  return folder === path ? [] : [folder, ...foldersOf(folder)]
}

function hasModeBit(path: string, bit: number): boolean {
  return ((statOf(path)?.mode ?? 0) & bit) !== 0
}

/** Null for what cannot be examined: opening the database says why. */
function statOf(path: string): Stats | null {
  try {
    return statSync(path)
  } catch {
    return null
  }
}

/** Whether, by its configuration, only programs on this machine can reach the gateway. */
export function isThisMachineOnly({ host, trustedProxy }: Pick<Exposure, 'host' | 'trustedProxy'>): boolean {
  return isLoopbackBinding(host) && trustedProxy.length === 0
}

/** Logins and refreshes a minute per network. 0 means no limit for them; null means that all rate limits are off. */
export function attemptsPerMinute(config: Exposure): number | null {
  if (config.rateLimits === 'off') return null
  return config.attemptsPerMinute ?? (isThisMachineOnly(config) ? 0 : DEFAULT_ATTEMPTS_PER_MINUTE)
}
