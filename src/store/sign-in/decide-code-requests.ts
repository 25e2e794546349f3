// Decides which requests for a code get a mail. Both engines use this one implementation of the rule.
import { hash } from 'node:crypto'
import { CLOCKS_DIFFER_MS } from '../session-contract.ts'
import {
  type CodeOutcome,
  type CodeRequest,
  type CodeRules,
  type DecidedRequest,
  MAX_CODE_TRIES,
} from './code-contract.ts'

export interface Quota {
  readonly key: string
  readonly used: number
  readonly endsAt: number
}

/** A pending sign-in as a row. */
export interface PendingRow extends Pick<CodeRequest, 'id' | 'email' | 'network' | 'kid' | 'codeHash'> {
  readonly isMailed: boolean
  readonly tries: number
  readonly expiresAt: number
}

/** The stored rows that concern the requests, read in the transaction that decides. */
export interface DecisionState {
  readonly pending: readonly PendingRow[]
  readonly quotas: readonly Quota[]
  /** Keys of the known networks, see `knownNetworkKey`. */
  readonly knownNetworks: ReadonlySet<string>
  /** Emails that have a workspace. */
  readonly users: ReadonlySet<string>
  /** Names of the stored signing keys. A code of any other key is lost. */
  readonly kids: ReadonlySet<string>
}

/** A request that gets a mail. The mails that are due first are sent first. */
export interface MailedRequest extends CodeRequest {
  readonly dueAt: number
}

export interface Decisions {
  readonly decided: readonly DecidedRequest[]
  readonly pending: readonly PendingRow[]
  readonly quotas: readonly Quota[]
  readonly mailed: readonly MailedRequest[]
}

interface Charge {
  readonly key: string
  readonly limit: number
}

/** A refused address also gets a pending sign-in, like a mailed one, so that a client cannot tell the two apart. */
export function decideRequests(
  requests: readonly CodeRequest[],
  state: DecisionState,
  rules: CodeRules,
  now: number,
): Decisions {
  const pending = new Map(state.pending.map((row) => [pairOf(row), row]))
  const quotas = new Map(state.quotas.map((quota) => [quota.key, quota]))
  const [changedPairs, changedQuotas] = [new Set<string>(), new Set<string>()]
  const mailed: MailedRequest[] = []

  function runningQuota(key: string): Quota | null {
    const quota = quotas.get(key)
    return quota && isRunning(quota.endsAt, rules.windowMs, now) ? quota : null
  }

  function hasRoom({ key, limit }: Charge): boolean {
    return (runningQuota(key)?.used ?? 0) < limit
  }

  function charge({ key }: Charge): void {
    const quota = runningQuota(key)
    quotas.set(key, quota ? { ...quota, used: quota.used + 1 } : { key, used: 1, endsAt: now + rules.windowMs })
    changedQuotas.add(key)
  }

  /**
   * The mail that is due first is sent first. One for a known network is due before all others that are not expired. The
   * others of a network are due one after the other, over the lifetime of a code: otherwise a stranger who asks for many
   * mails that the mail server takes long for would delay the mails of all others until their codes have expired.
   */
  function dueAtOf(request: CodeRequest): number {
    const { codeTtlMs, maxPerNetwork } = rules
    if (state.knownNetworks.has(knownNetworkKey(request))) return now - 2 * codeTtlMs
    const [, , , network] = quotaKeysOf(request)
    const before = (runningQuota(network)?.used ?? 1) - 1
    return now - codeTtlMs + Math.floor((codeTtlMs * before) / maxPerNetwork)
  }

  function isLive({ kid, tries, expiresAt }: PendingRow): boolean {
    return isRunning(expiresAt, rules.codeTtlMs, now) && tries < MAX_CODE_TRIES && state.kids.has(kid)
  }

  function decide(request: CodeRequest): CodeOutcome {
    const pair = pairOf(request)
    const found = pending.get(pair)
    const live = found && isLive(found) ? found : null
    if (live?.isMailed) return 'joined'
    const charges = chargesOf(request, state, rules)
    const isEligible = request.isEligible && state.kids.has(request.kid)
    const isWanted = isEligible && (!rules.isForKnownUsersOnly || state.users.has(request.email))
    const isMailed = isWanted && charges.every(hasRoom)
    if (isMailed) {
      for (const one of charges) charge(one)
      mailed.push({ ...request, dueAt: dueAtOf(request) })
    }
    if (isMailed || !live) {
      pending.set(pair, {
        ...request,
        // No hash equals the empty text, so no code is accepted.
        codeHash: isMailed ? request.codeHash : '',
        isMailed,
        tries: 0,
        expiresAt: now + rules.codeTtlMs,
      })
      changedPairs.add(pair)
    }
    return isMailed ? 'mailed' : 'refused'
  }

  const decided = requests.map((request) => ({ ...request, outcome: decide(request) }))
  return {
    decided,
    pending: [...changedPairs].flatMap((pair) => pending.get(pair) ?? []),
    quotas: [...changedQuotas].flatMap((key) => quotas.get(key) ?? []),
    mailed,
  }
}

/**
 * Whether a window of `lengthMs` that ends at `endsAt` is running. A window that ends later than one that begins now
 * began before the clock was set back; it does not count.
 */
export function isRunning(endsAt: number, lengthMs: number, now: number): boolean {
  return endsAt > now && endsAt <= now + lengthMs + CLOCKS_DIFFER_MS
}

/** A known network of the address has its own quota, which strangers cannot use up. */
function chargesOf(request: CodeRequest, state: DecisionState, rules: CodeRules): readonly Charge[] {
  const [known, pair, address, network, total] = quotaKeysOf(request)
  if (state.knownNetworks.has(knownNetworkKey(request))) return [{ key: known, limit: rules.maxPerAddressAndNetwork }]
  return [
    { key: pair, limit: rules.maxPerAddressAndNetwork },
    { key: address, limit: rules.maxPerAddress },
    { key: network, limit: rules.maxPerNetwork },
    { key: total, limit: rules.maxTotal },
  ]
}

type Pair = Pick<CodeRequest, 'email' | 'network'>

/** The keys of all quotas that a request may be charged to. They are hashes because the table outlives the requests. */
export function quotaKeysOf({ email, network }: Pair): readonly [string, string, string, string, string] {
  return [
    keyOf('known', email, network),
    keyOf('pair', email, network),
    keyOf('address', mailboxOf(email)),
    keyOf('network', network),
    keyOf('total'),
  ]
}

/**
 * The address without what stands after a `+`: most mail servers deliver both to one mailbox (subaddressing, RFC 5233).
 */
function mailboxOf(email: string): string {
  return email.replace(/^([^+]+)\+.*(?=@)/, '$1')
}

/** The key of a known network. It is a hash, so that the table does not show who signed in from where. */
export function knownNetworkKey({ email, network }: Pair): string {
  return keyOf('known network', email, network)
}

/** The key that all known networks of an address share. */
export function knownAddressKey(email: string): string {
  return keyOf('known address', email)
}

function pairOf({ email, network }: Pair): string {
  return `${email} ${network}`
}

/** Unambiguous because no part contains a line break. */
function keyOf(...parts: readonly string[]): string {
  return hash('sha256', parts.join('\n'), 'base64url')
}
