// The context that resolvers get in addition to their parent and arguments.
import type { Caller } from '../auth/caller.ts'
import type { OpenSession, Sessions } from '../auth/sessions.ts'
import type { SignIn } from '../auth/sign-in.ts'
import type { Owner } from '../http/limits/fair-line.ts'
import type { YieldTurn } from '../http/limits/round-robin-scheduler.ts'
import type { Pace } from '../http/limits/turn-quota.ts'
import type { LiveSession } from '../store/contract.ts'
import { createNodeIds, type NodeIds } from './identity/node-id.ts'
import { createLoaders, type Loaders } from './reads/loaders.ts'
import { createReadStates, type ReadStates } from './reads/read-states.ts'
import type { Reads } from './reads/reads.ts'
import { createRequestReads, type RequestReads } from './reads/request-reads.ts'
import type { RequestBudget } from './request-budget.ts'

/** A user with a stored workspace: the value of `me`. */
export interface WorkspaceUser {
  readonly userId: number
  readonly email: string
}

/** Services that all requests share. */
export interface Services {
  readonly reads: Reads
  readonly signIn: SignIn
  /** Resolves when the caller may do its next piece of work on a large response. */
  readonly yieldTurn: YieldTurn
  /** Bounds what all requests together read in one turn of the event loop. */
  readonly paceReading: Pace
  readonly sessions: Sessions
}

export interface Context extends Pick<Services, 'signIn' | 'sessions'> {
  readonly reads: RequestReads
  /** Waits in the queue of the viewer. All requests of one viewer share a turn. */
  readonly yieldTurn: () => Promise<void>
  /** Waits, as `yieldTurn` does, until so many bytes of the store may be read. Null when they may be at once. */
  readonly paceReading: (byteLength: number) => Promise<void> | null
  /** The session that the request is signed in with; null without a valid access token. */
  readonly viewer: LiveSession | null
  readonly caller: Caller
  /** The limits on what the request may read, hold and answer. */
  readonly budget: RequestBudget
  /** The states that the reads of this request have seen; null without a viewer. */
  readonly states: Pick<ReadStates, 'isExpected' | 'isTorn'> | null
  /**
   * Whether the response depends only on the state that the session lookup saw, so that it may be cached for that
   * state.
   */
  readonly isConsistent: () => boolean
  /**
   * The open sessions of the viewer, newest first; empty without a viewer. Read once per request. Sessions change
   * without a new state version, so a response that shows them is not consistent, and is not cached.
   */
  readonly ownSessions: () => Promise<readonly OpenSession[]>
  /** The loaders of everything that is read by key. Created at the first call. */
  readonly loaders: () => Loaders
  /** Ids of the viewer's data. A request can reach no other data. */
  readonly nodeIds: NodeIds
}

export function createContext(
  services: Services,
  caller: Caller,
  viewer: LiveSession | null,
  budget: RequestBudget,
): Context {
  const { signIn, sessions } = services
  const owner: Owner = { name: viewer?.email ?? '', isKnown: viewer !== null }
  const yieldTurn = () => services.yieldTurn(owner)
  const paceReading = (byteLength: number) => services.paceReading(byteLength, owner)
  const states = viewer && createReadStates(viewer)
  const reads = createRequestReads(services.reads, states?.expected ?? null, budget, paceReading)
  let reading: Promise<readonly OpenSession[]> | null = null
  function ownSessions(): Promise<readonly OpenSession[]> {
    reading ??= viewer ? sessions.listOf(viewer.email) : Promise.resolve([])
    return reading
  }
  let loaders: Loaders | null = null
  return {
    reads,
    sessions,
    signIn,
    yieldTurn,
    paceReading,
    viewer,
    caller,
    budget,
    states,
    isConsistent: () => reading === null && (!states || states.isExpected()),
    loaders: () => (loaders ??= createLoaders(reads, { reads, yieldTurn, paceReading }, budget)),
    ownSessions,
    nodeIds: createNodeIds(viewer?.email ?? ''),
  }
}
