// Which requests for a code get a mail: the one place that knows the rule, for both engines.
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

/** What the database knows of the requests, read in the transaction that decides. */
export interface DecisionState {
  readonly pending: readonly PendingRow[]
  readonly quotas: readonly Quota[]
  /** Keys of known networks that are there, see `knownNetworkKey`. */
  readonly knownNetworks: ReadonlySet<string>
  /** Emails that have a workspace. */
  readonly users: ReadonlySet<string>
}

export interface Decisions {
  readonly decided: readonly DecidedRequest[]
  readonly pending: readonly PendingRow[]
  readonly quotas: readonly Quota[]
  /** Those that get a mail. */
  readonly mailed: readonly CodeRequest[]
}

interface Charge {
  readonly key: string
  readonly limit: number
}

/** An address that is refused leaves the same rows behind as one that is mailed, except the mail. */
export function decideRequests(
  requests: readonly CodeRequest[],
  state: DecisionState,
  rules: CodeRules,
  now: number,
): Decisions {
  const pending = new Map(state.pending.map((row) => [pairOf(row), row]))
  const quotas = new Map(state.quotas.map((quota) => [quota.key, quota]))
  const [changedPairs, changedQuotas] = [new Set<string>(), new Set<string>()]

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

  function decide(request: CodeRequest): CodeOutcome {
    const pair = pairOf(request)
    const found = pending.get(pair)
    const live =
      found && isRunning(found.expiresAt, rules.codeTtlMs, now) && found.tries < MAX_CODE_TRIES ? found : null
    if (live?.isMailed) return 'joined'
    const charges = chargesOf(request, state, rules)
    const isWanted = request.isEligible && (!rules.isForKnownUsersOnly || state.users.has(request.email))
    const isMailed = isWanted && charges.every(hasRoom)
    if (isMailed) for (const one of charges) charge(one)
    if (isMailed || !live) {
      pending.set(pair, {
        ...request,
        // Nothing equals it: nobody was told a code.
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
    mailed: decided.filter(({ outcome }) => outcome === 'mailed'),
  }
}

/** What ends later than anything can that begins now is not running: it began before the clock was set back. */
export function isRunning(endsAt: number, lengthMs: number, now: number): boolean {
  return endsAt > now && endsAt <= now + lengthMs + CLOCKS_DIFFER_MS
}

/** A network that the address knows has a quota of its own, which strangers cannot use up. */
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

/** Every quota that a request may be charged to. Hashed: the table outlives the requests. */
export function quotaKeysOf({ email, network }: Pair): readonly [string, string, string, string, string] {
  return [
    keyOf('known', email, network),
    keyOf('pair', email, network),
    keyOf('address', email),
    keyOf('network', network),
    keyOf('total'),
  ]
}

/** What a known network is stored under: nobody can read from it who signed in from where. */
export function knownNetworkKey({ email, network }: Pair): string {
  return keyOf('known network', email, network)
}

/** What all known networks of an address have in common. */
export function knownAddressKey(email: string): string {
  return keyOf('known address', email)
}

function pairOf({ email, network }: Pair): string {
  return `${email} ${network}`
}

/** No part has a line break in it. */
function keyOf(...parts: readonly string[]): string {
  return hash('sha256', parts.join('\n'), 'base64url')
}
