// A store that follows its database when that is moved to another one: writes wait for the switch, and nothing is asked twice
// of two databases.
import { setTimeout as delay } from 'node:timers/promises'
import type { Awaitable } from '../contract.ts'
import type { EditableStore } from '../workspace-edits.ts'
import { type MigratableStore, StoreClosedError, StoreMovedError } from './contract.ts'

/** How long a write waits while its database is closed; longer than a move closes it, unless it was told to. */
const PATIENCE_MS = 5_000
const LOOK_EVERY_MS = 10

/** The database that another one may move to. */
export interface Successor extends AsyncDisposable {
  /** As it is now: opened anew where it was lost, since nothing was in it. */
  readonly open: () => Awaitable<MigratableStore>
}

export interface HandOverOptions {
  /** Where `store` may move to; null when it has nowhere to go. Closed with it. */
  readonly next: Successor | null
  readonly onSwitch?: () => void
}

/**
 * Every write, and every verb that decides who is asking, is answered by whichever of the two databases is in charge at that
 * moment, which the database itself says. Users and what is theirs have the same ids in both, so whoever was let in by one may
 * go on reading in the other.
 */
export function withCutover(store: MigratableStore, { next, onSwitch }: HandOverOptions): EditableStore {
  let current = store
  /** Answers that the first store still owes. */
  let owed = 0
  let isFirstClosed = false
  let switching: Promise<void> | null = null
  let opening: Promise<void> | null = null

  function ask<T>(run: (store: MigratableStore) => Awaitable<T>): Awaitable<T> {
    const asked = current
    const answer = run(asked)
    // What is there at once stays there at once: it must reach its request within this turn.
    if (asked !== store || !(answer instanceof Promise)) return answer
    owed += 1
    return answer.finally(() => {
      owed -= 1
      closeFirst()
    })
  }

  function closeFirst(): void {
    if (current === store || owed > 0 || isFirstClosed) return
    isFirstClosed = true
    // It may fail as it likes: nobody asks it anything any more.
    void Promise.resolve(store[Symbol.asyncDispose]()).catch(() => {})
  }

  /** Asks where it must not be answered by a database that another one has taken over from. */
  function askInCharge<T>(
    run: (store: MigratableStore) => Awaitable<T>,
    giveUpAt = performance.now() + PATIENCE_MS,
  ): Awaitable<T> {
    const asked = current
    try {
      const answer = ask(run)
      if (!(answer instanceof Promise)) return answer
      return answer.catch((error: unknown) => again(error, asked))
    } catch (error) {
      return again(error, asked)
    }

    async function again(error: unknown, refusedBy: MigratableStore): Promise<T> {
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
    closeFirst()
  }

  /** One look for all writes that wait. */
  function whileClosed(from: MigratableStore, giveUpAt: number): Promise<void> {
    opening ??= untilOpen(from, giveUpAt).finally(() => {
      opening = null
    })
    return opening
  }

  async function untilOpen(from: MigratableStore, giveUpAt: number): Promise<void> {
    do await delay(LOOK_EVERY_MS)
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

    openSnapshot: (options) => ask((asked) => asked.openSnapshot(options)),
    ping: () => askInCharge((asked) => asked.ping()),
    async [Symbol.asyncDispose]() {
      if (!isFirstClosed) await store[Symbol.asyncDispose]()
      isFirstClosed = true
      await next?.[Symbol.asyncDispose]()
    },
  }
}
