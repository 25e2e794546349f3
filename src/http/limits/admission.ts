// Admission by queue time: requests begin in the order in which they came, a few in each turn of the event loop. When more wait
// than can begin in time, what is too much is refused at once instead.
//
// Node accepts one connection in each turn of the event loop (libuv since 1.45). With turns as long as all that came meanwhile takes,
// new connections, those of health checks too, would wait for seconds where nobody sees them.

/** What begins in one turn takes about so long: most of the answer is made in the same turn. */
const TURN_MS = 8
/** Requests that begin in one turn, however short they are. */
const MAX_QUOTA = 64
/** Even if turns are long: what makes them long may be the answers of others that are being made. */
const MIN_QUOTA = 16
/** While connections come, turns do nothing but accept them for so long, then one begins work again. */
const ACCEPTING_MS = 8
/** A line that is too slow for less than this is a burst: it is answered, however late. */
const PATIENCE_MS = 250
/** Refusing has ended when nothing was refused for so long. */
const CALM_MS = 1_000
/** How often it is looked at how many can begin in a while. */
const RATE_MS = 50
/** May wait whatever the rate: the connections of a client that keeps many, or what came behind one slow request, is not too much. */
const MIN_WAITING = 128
/**
 * Refused in a turn: one for so many that begin, or such a part of what is to be refused. A refusal costs a fifth of a small answer, and
 * who is refused at once comes again at once, so that nothing but refusals would be made.
 */
const BEGUN_PER_REFUSAL = 8
const REFUSED_PART = 1 / 64
const GROWTH = 1.25

export interface AdmissionOptions {
  /** Milliseconds that a request may wait before work on it begins. */
  readonly maxDelayMs: number
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number
  /** Calls `run` once in the next turn of the event loop. */
  readonly nextTurn: (run: () => void) => void
  /** Calls `run` once after so many milliseconds, and keeps no process alive for it. */
  readonly later: (run: () => void, milliseconds: number) => void
  /** Called when refusing begins, and when it has ended, with how many were refused. */
  readonly onChange: (isRefusing: boolean, refused: number) => void
  /** Told of each request that begins, how many milliseconds it waited. */
  readonly onDelay: (delayMs: number) => void
}

export interface Admission {
  /** Whether one more request begins now. If not, it has to `wait`. */
  readonly isFree: (isFirstOfConnection: boolean) => boolean
  /** True when it is its turn; false, mostly at once, when more waits than can begin in time. */
  readonly wait: () => Promise<boolean>
}

interface Waiting {
  readonly since: number
  readonly decide: (mayBegin: boolean) => void
}

export function createAdmission(options: AdmissionOptions): Admission {
  const { maxDelayMs, now, nextTurn, later, onChange, onDelay } = options
  const line: Waiting[] = []
  const tooMuch: ((mayBegin: boolean) => void)[] = []
  let quota = MAX_QUOTA
  let begun = 0
  let isTicking = false
  let turnAt = 0
  let hasNewConnection = false
  /** One came in the turn before: with another in this one, there may be more that wait to be accepted. */
  let areConnectionsComing = false
  let acceptingTurns = 0
  let acceptingSince = 0
  let lateSince: number | null = null
  let isRefusing = false
  let refused = 0
  let refusedAt = 0
  /** Requests a millisecond that begin while others wait. */
  const rate = { perMs: 0, since: 0, begun: 0 }

  function startTicking(at: number): void {
    if (isTicking) return
    isTicking = true
    turnAt = at
    nextTurn(tick)
  }

  function tick(): void {
    const at = now()
    fitQuota(at - turnAt)
    measureRate(at)
    judge(at)
    turnAt = at
    begun = 0
    if (!isAccepting(at)) beginWaiting(at)
    refuseSome()
    isTicking = begun > 0 || line.length > 0 || tooMuch.length > 0 || areConnectionsComing
    if (isTicking) nextTurn(tick)
  }

  function fitQuota(tookMs: number): void {
    if (tookMs <= TURN_MS) quota = Math.min(MAX_QUOTA, Math.ceil(quota * GROWTH))
    else if (begun >= quota) quota = Math.max(MIN_QUOTA, Math.floor((quota * TURN_MS) / tookMs))
  }

  function measureRate(at: number): void {
    rate.begun += begun
    const tookMs = at - rate.since
    if (tookMs < RATE_MS) return
    // Only while others wait it is the most that can be done.
    if (line.length > 0) rate.perMs = rate.begun / tookMs
    rate.since = at
    rate.begun = 0
  }

  function judge(at: number): void {
    const first = line[0]
    if (!first || at - first.since <= maxDelayMs) {
      lateSince = null
      return
    }
    lateSince ??= at
    if (at - lateSince < PATIENCE_MS) return
    if (!isRefusing) {
      isRefusing = true
      refusedAt = at
      onChange(true, 0)
      later(calmDown, CALM_MS)
    }
    for (const { decide } of line.splice(Math.ceil(maxWaiting()))) refuse(at, decide)
  }

  function maxWaiting(): number {
    return Math.max(MIN_WAITING, rate.perMs * maxDelayMs)
  }

  function refuse(at: number, decide: (mayBegin: boolean) => void): void {
    refused += 1
    refusedAt = at
    tooMuch.push(decide)
  }

  function refuseSome(): void {
    for (const decide of tooMuch.splice(
      0,
      Math.ceil(Math.max(begun / BEGUN_PER_REFUSAL, tooMuch.length * REFUSED_PART)),
    ))
      decide(false)
  }

  function calmDown(): void {
    const leftMs = refusedAt + CALM_MS - now()
    if (leftMs > 0) {
      later(calmDown, leftMs)
      return
    }
    isRefusing = false
    onChange(false, refused)
    refused = 0
  }

  function isAccepting(at: number): boolean {
    const isWaited = hasNewConnection && line.length > 0
    areConnectionsComing = hasNewConnection
    hasNewConnection = false
    // The first of these turns still ends what began before it.
    if (acceptingTurns === 1) acceptingSince = at
    acceptingTurns = isWaited && (acceptingTurns < 2 || at - acceptingSince < ACCEPTING_MS) ? acceptingTurns + 1 : 0
    return acceptingTurns > 0
  }

  function beginWaiting(at: number): void {
    for (; begun < quota; begun += 1) {
      const next = line.shift()
      if (!next) return
      onDelay(at - next.since)
      next.decide(true)
    }
  }

  return {
    isFree(isFirstOfConnection) {
      if (isFirstOfConnection) hasNewConnection = true
      if (line.length > 0 || begun >= quota || (isFirstOfConnection && areConnectionsComing)) return false
      begun += 1
      if (!isTicking) startTicking(now())
      onDelay(0)
      return true
    },
    wait() {
      const since = now()
      startTicking(since)
      return new Promise((decide) => {
        if (isRefusing && line.length >= maxWaiting()) refuse(since, decide)
        else line.push({ since, decide })
      })
    },
  }
}
