// A store that follows its database through a cutover: writes wait for the switch, and each write takes effect in one
// database only.
import { setTimeout as delay } from 'node:timers/promises'
import type { Awaitable } from '../contract.ts'
import type { EditableStore } from '../workspace-edits.ts'
import { type MigratableStore, StoreClosedError, StoreMovedError } from './contract.ts'

/** How long a write waits while its database is closed. Longer than the default pause of a move. */
const WRITE_WAIT_MS = 5_000
const POLL_MS = 10

/** The database that the current one may move to. */
export interface Successor extends AsyncDisposable {
  /** Opens it in its current state. Reopens it if it was lost in the meantime, which is safe because it was empty. */
  readonly open: () => Awaitable<MigratableStore>
}

export interface CutoverOptions {
  /** The possible target of a move of `store`; null if there is none. Closed together with `store`. */
  readonly next: Successor | null
  readonly onSwitch?: () => void
}

/**
 * Every write and every method that authenticates the caller goes to the database that is in charge at that moment; the
 * database itself says so. Users and their rows have the same ids in both databases, so a caller whom one has
 * authenticated may continue reading in the other.
 */
export function withCutover(store: MigratableStore, { next, onSwitch }: CutoverOptions): EditableStore {
  let current = store
  /** Number of calls in flight to `store`, the source of a move. */
  let inFlight = 0
  let isSourceClosed = false
  let switching: Promise<void> | null = null
  let opening: Promise<void> | null = null

  function ask<T>(run: (store: MigratableStore) => Awaitable<T>): Awaitable<T> {
    const asked = current
    const answer = run(asked)
    // A synchronous result stays synchronous: it must reach its request within this turn.
    if (asked !== store || !(answer instanceof Promise)) return answer
    inFlight += 1
    return answer.finally(() => {
      inFlight -= 1
      closeSource()
    })
  }

  function closeSource(): void {
    if (current === store || inFlight > 0 || isSourceClosed) return
    isSourceClosed = true
    // A failure does not matter: nobody uses this store any more.
    void Promise.resolve(store[Symbol.asyncDispose]()).catch(() => {})
  }

  /** Runs a call that only the database in charge may answer. Waits out a closing and follows a move. */
  function askInCharge<T>(
    run: (store: MigratableStore) => Awaitable<T>,
    giveUpAt = performance.now() + WRITE_WAIT_MS,
  ): Awaitable<T> {
    const asked = current
    try {
      const answer = ask(run)
      if (!(answer instanceof Promise)) return answer
      return answer.catch((error: unknown) => retry(error, asked))
    } catch (error) {
      return retry(error, asked)
    }

    async function retry(error: unknown, refusedBy: MigratableStore): Promise<T> {
      if (error instanceof StoreMovedError) await switchFrom(refusedBy, error)
      else if (error instanceof StoreClosedError && performance.now() < giveUpAt) await whileClosed(refusedBy, giveUpAt)
      else throw error
      return askInCharge(run, giveUpAt)
    }
  }

  function switchFrom(from: MigratableStore, error: StoreMovedError): Promise<void> {
    if (from !== current) return Promise.resolve()
    if (next === null || current !== store) throw error
    switching ??= switchTo(next, error).finally(() => {
      switching = null
    })
    return switching
  }

  async function switchTo(successor: Successor, error: StoreMovedError): Promise<void> {
    const other = await successor.open()
    const [here, there] = [await store.moveState(), await other.moveState()]
    if (here.phase !== 'moved' || here.other !== there.identity) throw error
    await other.promote(here.identity)
    current = other
    onSwitch?.()
    closeSource()
  }

  /** All waiting writes share one polling loop. */
  function whileClosed(from: MigratableStore, giveUpAt: number): Promise<void> {
    opening ??= untilOpen(from, giveUpAt).finally(() => {
      opening = null
    })
    return opening
  }

  async function untilOpen(from: MigratableStore, giveUpAt: number): Promise<void> {
    do await delay(POLL_MS)
    while (
      from === current &&
      performance.now() < giveUpAt &&
      (await ask((asked) => asked.moveState())).phase === 'closed'
    )
  }

  return {
    documentsOf: (pages) => ask((asked) => asked.documentsOf(pages)),
    documentsWithin: (pages) => ask((asked) => asked.documentsWithin(pages)),
    documentsById: (keys) => ask((asked) => asked.documentsById(keys)),
    documentCounts: (lists) => ask((asked) => asked.documentCounts(lists)),
    projectsByRef: (refs) => ask((asked) => asked.projectsByRef(refs)),
    latestExports: (questions) => ask((asked) => asked.latestExports(questions)),
    exportsByKey: (keys) => ask((asked) => asked.exportsByKey(keys)),
    exportsOf: (pages) => ask((asked) => asked.exportsOf(pages)),
    exportCounts: (refs) => ask((asked) => asked.exportCounts(refs)),
    elementsOf: (pages) => ask((asked) => asked.elementsOf(pages)),
    elementsWithin: (pages) => ask((asked) => asked.elementsWithin(pages)),
    elementRunsOf: (questions) => ask((asked) => asked.elementRunsOf(questions)),
    usersAfter: (email, limit) => ask((asked) => asked.usersAfter(email, limit)),
    userByEmail: (email) => ask((asked) => asked.userByEmail(email)),
    usersById: (ids) => ask((asked) => asked.usersById(ids)),
    exportRefsWithoutProject: (userId) => ask((asked) => asked.exportRefsWithoutProject(userId)),

    liveSessions: (ids, now) => askInCharge((asked) => asked.liveSessions(ids, now)),
    refreshableSessions: (hashes, now) => askInCharge((asked) => asked.refreshableSessions(hashes, now)),
    sessionsOf: (email, now, limit) => askInCharge((asked) => asked.sessionsOf(email, now, limit)),
    addSessions: (sessions, maxPerUser) => askInCharge((asked) => asked.addSessions(sessions, maxPerUser)),
    extendSessions: (extensions) => askInCharge((asked) => asked.extendSessions(extensions)),
    revokeSessions: (hashes, now) => askInCharge((asked) => asked.revokeSessions(hashes, now)),
    revokeSessionsById: (sessions, now) => askInCharge((asked) => asked.revokeSessionsById(sessions, now)),
    revokeSessionsOf: (email, now) => askInCharge((asked) => asked.revokeSessionsOf(email, now)),
    dropExpiredSessions: (now) => askInCharge((asked) => asked.dropExpiredSessions(now)),
    sessionsAfter: (id, limit) => ask((asked) => asked.sessionsAfter(id, limit)),

    signingKeys: () => askInCharge((asked) => asked.signingKeys()),
    addSigningKey: (key, newestKid) => askInCharge((asked) => asked.addSigningKey(key, newestKid)),
    removeSigningKey: (kid) => askInCharge((asked) => asked.removeSigningKey(kid)),
    rewriteSigningKeys: (keys) => askInCharge((asked) => asked.rewriteSigningKeys(keys)),

    auditSalt: () => ask((asked) => asked.auditSalt()),
    auditEntries: (filter, after, limit) => ask((asked) => asked.auditEntries(filter, after, limit)),
    addAuditEntries: (batch) => askInCharge((asked) => asked.addAuditEntries(batch)),
    removeAuditEntries: (before, limit) => askInCharge((asked) => asked.removeAuditEntries(before, limit)),

    addRestCalls: (batch) => askInCharge((asked) => asked.addRestCalls(batch)),
    restCallDays: (after, limit) => ask((asked) => asked.restCallDays(after, limit)),
    restCallsOf: (days) => ask((asked) => asked.restCallsOf(days)),
    removeRestCalls: (before, limit) => askInCharge((asked) => asked.removeRestCalls(before, limit)),

    addCodeRequests: async (requests) => askInCharge((asked) => asked.addCodeRequests(requests)),
    decideCodeRequests: async (rules, now, limit) =>
      askInCharge((asked) => asked.decideCodeRequests(rules, now, limit)),
    pendingSignIn: async (email, network, now) => askInCharge((asked) => asked.pendingSignIn(email, network, now)),
    tryCode: async (guess, now) => askInCharge((asked) => asked.tryCode(guess, now)),
    leaseMails: async (lease, now) => askInCharge((asked) => asked.leaseMails(lease, now)),
    settleMails: async (owner, settled) => askInCharge((asked) => asked.settleMails(owner, settled)),
    addClient: async (client) => askInCharge((asked) => asked.addClient(client)),
    clients: async () => askInCharge((asked) => asked.clients()),
    clientByName: async (name) => askInCharge((asked) => asked.clientByName(name)),
    removeClient: async (name) => askInCharge((asked) => asked.removeClient(name)),
    applyChanges: (changes) => askInCharge((asked) => asked.applyChanges(changes)),
    projectIdsByRef: (refs) => ask((asked) => asked.projectIdsByRef(refs)),
    dropStaleStages: (before) => askInCharge((asked) => asked.dropStaleStages(before)),

    holdingsOf: (emails) => ask((asked) => asked.holdingsOf(emails)),
    removeUsers: (emails) => askInCharge((asked) => asked.removeUsers(emails)),
    renameUser: (email, to) => askInCharge((asked) => asked.renameUser(email, to)),
    pruneExports: (rule) => askInCharge((asked) => asked.pruneExports(rule)),
    beginReplacement: (replacement, now) => askInCharge((asked) => asked.beginReplacement(replacement, now)),
    stageReplacement: (replacement, steps, now) =>
      askInCharge((asked) => asked.stageReplacement(replacement, steps, now)),
    swapReplacement: (question) => askInCharge((asked) => asked.swapReplacement(question)),
    endReplacement: (replacement) => askInCharge((asked) => asked.endReplacement(replacement)),
    space: () => ask((asked) => asked.space()),
    reclaimSpace: () => askInCharge((asked) => asked.reclaimSpace()),
    rewrite: () => askInCharge((asked) => asked.rewrite()),
    flushRemovals: () => askInCharge((asked) => asked.flushRemovals()),
    statistics: (now) => askInCharge((asked) => asked.statistics(now)),

    lastIds: async () => ask((asked) => asked.lastIds()),
    openSnapshot: (options) => ask((asked) => asked.openSnapshot(options)),
    earlierTime: (now) => ask((asked) => asked.earlierTime(now)),
    ping: () => askInCharge((asked) => asked.ping()),
    async [Symbol.asyncDispose]() {
      if (!isSourceClosed) await store[Symbol.asyncDispose]()
      isSourceClosed = true
      await next?.[Symbol.asyncDispose]()
    },
  }
}
