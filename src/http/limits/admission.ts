// Admits requests by queue time: a few begin in each turn of the event loop, fewer when they are long, in order of
// arrival per owner. An owner with nothing in the queue begins at once. Under overload, known owners come before
// strangers, the newest requests begin first, and the excess is refused.
import type { Accepting } from './accepting.ts'
import { createFairLine, type Owner } from './fair-line.ts'
import { createOverload, type OverloadOptions } from './overload.ts'
import { createRefusals } from './refusals.ts'

/** Bounds what begins in one turn. */
interface TurnBounds {
  /** Milliseconds of work that should begin. Most of a response is made in the turn in which it begins. */
  readonly milliseconds: number
  /** Minimum number of places, however long turns take: other responses in flight may be what takes the time. */
  readonly minQuota: number
}

const USUAL: TurnBounds = { milliseconds: 3, minQuota: 8 }
/**
 * While only a few owners wait, turns are shorter, so that everybody else hardly notices the queue. This costs some
 * throughput, but only of those few owners.
 */
const OF_FEW: TurnBounds = { milliseconds: 1.5, minQuota: 4 }
/** Up to this many owners are a few. */
const FEW_OWNERS = 4
/** Maximum number of places in a turn, however short the requests are. */
export const MAX_QUOTA = 64
const GROWTH = 1.25
/**
 * Owners with nothing in the queue begin one request at once, whatever else waits: at most this many owners per turn.
 * They are the new flows of FQ-CoDel (RFC 8290 section 4.2).
 */
const MAX_SPARSE = 4
/**
 * Requests that stay in the queue under overload: those that begin in the next few turns, and as many as a client with
 * a large connection pool has waiting behind slow requests.
 */
const MAX_WAITING = 128
/** Beside a few owners, one with at most this many waiting requests is not late: it is a page, or a small pool. */
const FEW_WAITING = 16

export interface AdmissionOptions extends OverloadOptions {
  readonly accepting: Pick<Accepting, 'isHolding'>
  /** Calls `run` once in the next turn of the event loop. */
  readonly nextTurn: (run: () => void) => void
  /**
   * Receives the milliseconds that a request waited, when it begins and again when it takes another turn
   * (`take-turn.ts`).
   */
  readonly onDelay: (delayMs: number) => void
}

/** How waiting ended. `left`: the client left, and the request needs no more work. */
export type WaitOutcome = 'begins' | 'refused' | 'left'

/** Calls `leave` when the client has left, immediately or later. */
export type OnLeave = (leave: () => void) => void

export interface Admission {
  /** Whether requests wait, and all that wait belong to a few owners. */
  readonly isQueueOfFew: () => boolean
  /** Number of the current turn. It changes after every turn in which a request began. */
  readonly turn: () => number
  /** Takes the places of a request that may begin now. Returns false, and takes none, when it has to `wait`. */
  readonly tryBegin: (arrival: Arrival) => boolean
  /**
   * Resolves to `begins` when the request may begin: at once for an owner with nothing in the queue. Resolves to
   * `refused`, usually soon, when the request is refused under overload. With `onLeave`, a client that comes under
   * overload and leaves while waiting gives up its place.
   */
  readonly wait: (owner: Owner, arrival: Arrival, onLeave?: OnLeave) => Promise<WaitOutcome>
}

export interface Arrival {
  /**
   * Places that the request takes in a turn: one, or more for a request that may take as long as several short ones.
   */
  readonly places: number
  readonly isFirstOfConnection: boolean
}

interface Waiting {
  readonly since: number
  readonly places: number
  readonly decide: (outcome: WaitOutcome) => void
}

export function createAdmission(options: AdmissionOptions): Admission {
  const { now, nextTurn, onDelay, accepting } = options
  const overload = createOverload(options)
  const line = createFairLine<Waiting>(({ places }) => places)
  const refusals = createRefusals()
  /** Owners that began at once in this turn. */
  const sparseOwners = new Set<string>()
  let quota = MAX_QUOTA
  /** Number of places taken in this turn. */
  let begun = 0
  let isTicking = false
  let turn = 0
  let turnAt = 0
  /** When requests from the queue last began. Turns that only accept connections do not count. */
  let lastBeganAt = 0

  function startTicking(at: number): void {
    if (isTicking) return
    isTicking = true
    turnAt = at
    nextTurn(tick)
  }

  function tick(): void {
    const at = now()
    turn += 1
    const tookMs = at - turnAt
    fitQuota(tookMs)
    overload.look(at, line.oldestSince())
    if (overload.isRefusing()) refuseBeyond(at)
    turnAt = at
    begun = 0
    sparseOwners.clear()
    if (!accepting.isHolding()) beginWaiting(at)
    refusals.refuseSome(tookMs, begun)
    isTicking = begun > 0 || line.length() > 0 || refusals.length() > 0
    if (isTicking) nextTurn(tick)
  }

  function isQueueOfFew(): boolean {
    return line.length() > 0 && line.ownerCount() <= FEW_OWNERS
  }

  /** Adapts the quota to how long the last turn took. A turn that did not use it up says nothing about a fuller one. */
  function fitQuota(tookMs: number): void {
    if (begun < quota) return
    // Under overload, shorter turns would answer less of what can be answered.
    const { milliseconds, minQuota } = isQueueOfFew() && !overload.isRefusing() ? OF_FEW : USUAL
    if (tookMs <= milliseconds) quota = Math.min(MAX_QUOTA, Math.ceil(quota * GROWTH))
    else quota = Math.max(minQuota, Math.floor((quota * milliseconds) / tookMs))
  }

  /** Runs at the start of a turn, before anything has begun in it. */
  function beginWaiting(at: number): void {
    // The newest requests have waited least. When not all can be answered, starting with them keeps the answered ones
    // on time; the rest is refused soon.
    const next = overload.isRefusing() ? line.takeNewest(quota) : line.takeOldest(quota)
    lastBeganAt = at
    for (const { since, places, decide } of next) {
      begun += places
      onDelay(at - since)
      decide('begins')
    }
  }

  function refuseBeyond(at: number): void {
    giveUp(line.takeBeyond(MAX_WAITING), at)
    // A request that was not among the newest when some of them began is late. While refusals are pending, newer
    // requests are there to begin instead.
    if (refusals.length() > 0) giveUp(line.takeBefore(lastBeganAt, isQueueOfFew() ? FEW_WAITING : 0), at)
  }

  function giveUp(late: readonly Waiting[], at: number): void {
    for (const { decide } of late) {
      overload.onRefused(at)
      refusals.add(() => decide('refused'))
    }
  }

  /** While connections keep coming, strangers are not: each of many networks could begin a costly request at once. */
  function isSparse(owner: Owner): boolean {
    if (accepting.isHolding() && !owner.isKnown) return false
    return sparseOwners.size < MAX_SPARSE && !sparseOwners.has(owner.name) && !line.has(owner)
  }

  return {
    isQueueOfFew,
    turn: () => turn,
    tryBegin({ places }) {
      if (accepting.isHolding() || line.length() > 0 || begun >= quota) return false
      begun += places
      if (!isTicking) startTicking(now())
      onDelay(0)
      return true
    },
    wait(owner, { places, isFirstOfConnection }, onLeave) {
      const since = now()
      startTicking(since)
      if (!isFirstOfConnection && isSparse(owner)) {
        sparseOwners.add(owner.name)
        begun += places
        onDelay(0)
        return Promise.resolve('begins')
      }
      return new Promise((decide) => {
        const waiting = { since, places, decide }
        line.add(owner, waiting)
        // Otherwise there is time to answer a client that has only closed its side of the connection.
        if (!overload.isRefusing()) return
        onLeave?.(() => {
          if (line.remove(owner, waiting)) decide('left')
        })
      })
    },
  }
}
