// sessions list and sessions revoke: lists open sessions and ends them.
import type { Audit } from '../../auth/audit/audit-event.ts'
import { UsageError } from '../../errors.ts'
import { sessionPages } from '../../store/paging/paging.ts'
import type { NewSession, SessionVerbs } from '../../store/session-contract.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { openCommandAudit } from '../open-audit.ts'
import { openStoreToRead, openStoreToWrite } from '../open-store-for-cli.ts'
import type { SessionsListConfig, SessionsRevokeConfig } from '../options/operator-options.ts'
import { writeLine } from '../write-line.ts'

/** Page size for the sessions of one user: more than any limit allows. */
const ALL_OF_ONE = 1_000_000

/** Lists open sessions: those of one user newest first, those of all users in the order they were opened. */
export async function runSessionsList(config: SessionsListConfig, io: CommandIo): Promise<ExitCode> {
  const { stdout, clock } = io
  const { email } = config
  const describe = config.json === true ? toJson : toText
  await using store = await openStoreToRead(config, io)
  const now = clock()
  const sessions = email === undefined ? openSessions(store, now) : await store.sessionsOf(email, now, ALL_OF_ONE)
  for await (const session of sessions) await writeLine(stdout, describe(session))
  return 0
}

/** Ends one session, or all sessions of a user. Returns 1 when there was none. Throws `UsageError`. */
export async function runSessionsRevoke(
  id: string | undefined,
  config: SessionsRevokeConfig,
  io: CommandIo,
): Promise<ExitCode> {
  const { email } = config
  if ((id === undefined) === (email === undefined)) {
    throw new UsageError('sessions revoke: give the id of a session, or --email for all of a user')
  }
  await using store = await openStoreToWrite(config)
  await using audit = await openCommandAudit(store, config, io)
  const ended =
    email === undefined ? await revokeOne(id ?? '', store, audit, io) : await store.revokeSessionsOf(email, io.clock())
  if (email !== undefined && ended > 0) record(audit, email, ended)
  io.stdout.write(`${ended} ${ended === 1 ? 'session' : 'sessions'} ended\n`)
  return ended === 0 ? 1 : 0
}

async function revokeOne(id: string, store: SessionVerbs, audit: Audit, { clock }: CommandIo): Promise<number> {
  const [live] = await store.liveSessions([id], clock())
  const [isEnded] = live ? await store.revokeSessionsById([live], clock()) : [false]
  if (!live || isEnded !== true) return 0
  record(audit, live.email, 1)
  return 1
}

function record(audit: Audit, email: string, count: number): void {
  audit.record({ kind: 'sessionsRevoked', result: 'done', email, detail: `${count} ended by the operator` })
}

async function* openSessions(store: SessionVerbs, now: number): AsyncGenerator<NewSession> {
  for await (const page of sessionPages(store)) {
    for (const session of page) if (session.idleExpiresAt > now && session.expiresAt > now) yield session
  }
}

function toText({ id, email, network, userAgent, ...times }: NewSession): string {
  const last = `last used ${toTime(times.lastUsedAt)}`
  return [id, email, `opened ${toTime(times.createdAt)}`, last, network || '-', userAgent || '-'].join('  ')
}

function toJson({
  id,
  email,
  createdAt,
  lastUsedAt,
  idleExpiresAt,
  expiresAt,
  userAgent,
  network,
  client,
}: NewSession): string {
  return JSON.stringify({
    id,
    email,
    createdAt: toTime(createdAt),
    lastUsedAt: toTime(lastUsedAt),
    expiresAt: toTime(Math.min(idleExpiresAt, expiresAt)),
    userAgent,
    network,
    client,
  })
}

function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
