// Requests for the same answer that come while it is made or sent are coalesced: it is made once and held once.
import type { LiveSession } from '../../store/contract.ts'
import type { LimitConcurrency } from '../limits/concurrency-limit.ts'
import type { GatewayResponse } from '../response.ts'

const SENT_AT_ONCE_BYTES = 65_536

export interface Made<T> {
  readonly value: T
  /** Whether it is of the very state that its viewer's session was looked up in: only then others get it. */
  readonly isOfState: boolean
  /** The memory that `value` takes. */
  readonly held: Disposable
}

/** Disposed once. What `value` holds is given back when all who got it have disposed of it. */
export interface Shared<T> extends Disposable {
  readonly value: T
}

/** Without a viewer, or for one without a workspace, each request makes its own answer. When the shared work fails, every request that waits for it fails. */
export type Coalesce<T> = (
  viewer: LiveSession | null,
  operation: string,
  make: () => Promise<Made<T>>,
) => Promise<Shared<T>>

interface Making<T> {
  readonly made: Promise<Made<T>>
  /** Requests that wait for it, and those that hold it. */
  users: number
}

export interface CoalescingOptions {
  /** Off where nothing may be shared: each request makes its own. */
  readonly isOn: boolean
  /** Different answers of one user are made so many at a time: what they read before they are refused is garbage by then. */
  readonly limit: LimitConcurrency
}

export function createCoalescing<T>({ isOn, limit }: CoalescingOptions): Coalesce<T> {
  const makings = new Map<string, Making<T>>()

  function forget(key: string, making: Making<T>): void {
    if (makings.get(key) === making) makings.delete(key)
  }

  function join(key: string, make: () => Promise<Made<T>>): Making<T> {
    const making = makings.get(key) ?? { made: make(), users: 0 }
    makings.set(key, making)
    making.users += 1
    return making
  }

  async function share(key: string, make: () => Promise<Made<T>>): Promise<Shared<T>> {
    const making = join(key, make)
    const isFirst = making.users === 1
    try {
      const made = await making.made
      if (!made.isOfState) {
        forget(key, making)
        return alone(isFirst ? made : await make())
      }
      return {
        value: made.value,
        [Symbol.dispose]() {
          making.users -= 1
          if (making.users > 0) return
          forget(key, making)
          made.held[Symbol.dispose]()
        },
      }
    } catch (error) {
      forget(key, making)
      throw error
    }
  }

  return (viewer, operation, make) => {
    if (viewer === null || viewer.userId === null) return make().then(alone)
    const { userId, stateVersion } = viewer
    const makeInTurn = () => limit(userId, make)
    return isOn ? share(`${userId} ${stateVersion} ${operation}`, makeInTurn) : makeInTurn().then(alone)
  }
}

/** Handed to the connection in one go: nothing is gained by holding it for others until it is sent. */
export function isSentAtOnce({ body }: GatewayResponse): boolean {
  return body instanceof Uint8Array && body.byteLength <= SENT_AT_ONCE_BYTES
}

function alone<T>({ value, held }: Made<T>): Shared<T> {
  return { value, [Symbol.dispose]: () => held[Symbol.dispose]() }
}
