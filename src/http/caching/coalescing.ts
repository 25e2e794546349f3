// Coalesces concurrent requests for the same answer: the gateway makes the answer once and holds it in memory once.
import type { LiveSession } from '../../store/contract.ts'
import type { OnLeave } from '../limits/admission.ts'
import type { LimitConcurrency } from '../limits/concurrency-limit.ts'
import type { GatewayResponse } from '../response.ts'

const SENT_AT_ONCE_BYTES = 65_536

export interface Made<T> {
  readonly value: T
  /**
   * Whether the value belongs to exactly the state that the viewer's session was looked up in. Only such a value is
   * shared.
   */
  readonly isOfState: boolean
  /** The memory that `value` takes. */
  readonly held: Disposable
}

/** Each holder disposes of it once. The memory of `value` is released when the last holder has disposed of it. */
export interface Shared<T> extends Disposable {
  readonly value: T
}

/**
 * Without a viewer, or for a viewer without a workspace, each request makes its own answer. When the shared work fails,
 * every request that waits for it fails. Work that has not begun when the clients of all its requests have left is not
 * done.
 */
export type Coalesce<T> = (
  viewer: LiveSession | null,
  operation: string,
  make: () => Promise<Made<T>>,
  onLeave: OnLeave,
) => Promise<Shared<T>>

interface Making<T> {
  readonly made: Promise<Made<T>>
  /** Number of requests that wait for the value or hold it. */
  holders: number
  readonly queued: Queued
}

/** Work that may wait for its turn. It does not refer to the value, which a client's connection must not keep alive. */
interface Queued {
  /** Number of requests whose clients have not left. */
  clients: number
  /** Takes the work out of the queue; null unless it waits there. */
  giveUp: (() => void) | null
}

export interface CoalescingOptions {
  /** False where nothing may be shared: each request then makes its own answer. */
  readonly isOn: boolean
  /**
   * Limits how many different answers of one user are made at a time. Without it, many would read and hold their data
   * side by side, and then be refused because there is no memory left.
   */
  readonly limit: LimitConcurrency
}

export function createCoalescing<T>({ isOn, limit }: CoalescingOptions): Coalesce<T> {
  const makings = new Map<string, Making<T>>()

  function forget(key: string, making: Making<T>): void {
    if (makings.get(key) === making) makings.delete(key)
  }

  /** Begins the work, or lets it wait for its turn. */
  function start(userId: number, make: () => Promise<Made<T>>): Making<T> {
    const queued: Queued = { clients: 0, giveUp: null }
    const begin = () => {
      queued.giveUp = null
      return make()
    }
    const made = limit(userId, begin, (giveUp) => {
      queued.giveUp = giveUp
    })
    return { made, holders: 0, queued }
  }

  /**
   * When the last client leaves before its turn, the next request for the same does not find this work any more. Work
   * that has begun goes on, so nobody needs to be watched.
   */
  function watchClient(key: string, { queued }: Making<T>, onLeave: OnLeave): void {
    if (queued.giveUp === null) return
    queued.clients += 1
    onLeave(() => {
      queued.clients -= 1
      if (queued.clients > 0 || queued.giveUp === null) return
      makings.delete(key)
      queued.giveUp()
    })
  }

  async function share(
    key: string,
    userId: number,
    make: () => Promise<Made<T>>,
    onLeave: OnLeave,
  ): Promise<Shared<T>> {
    const making = makings.get(key) ?? start(userId, make)
    makings.set(key, making)
    making.holders += 1
    const isFirst = making.holders === 1
    watchClient(key, making, onLeave)
    try {
      const made = await making.made
      if (!made.isOfState) {
        forget(key, making)
        return unshared(isFirst ? made : await limit(userId, make, onLeave))
      }
      return {
        value: made.value,
        [Symbol.dispose]() {
          making.holders -= 1
          if (making.holders > 0) return
          forget(key, making)
          made.held[Symbol.dispose]()
        },
      }
    } catch (error) {
      forget(key, making)
      throw error
    }
  }

  return (viewer, operation, make, onLeave) => {
    if (viewer === null || viewer.userId === null) return make().then(unshared)
    const { userId, stateVersion } = viewer
    if (!isOn) return limit(userId, make, onLeave).then(unshared)
    return share(`${userId} ${stateVersion} ${operation}`, userId, make, onLeave)
  }
}

/**
 * Whether the body goes to the connection in one write. Holding such a body for other requests until it is sent gains
 * nothing.
 */
export function isSentAtOnce({ body }: GatewayResponse): boolean {
  return body instanceof Uint8Array && body.byteLength <= SENT_AT_ONCE_BYTES
}

function unshared<T>({ value, held }: Made<T>): Shared<T> {
  return { value, [Symbol.dispose]: () => held[Symbol.dispose]() }
}
