// What resolvers are given besides their parent and arguments.
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

/** A user with a stored workspace: what `me` is. */
export interface WorkspaceUser {
  readonly userId: number
  readonly email: string
}

/** What all requests share. */
export interface Services {
  readonly reads: Reads
  readonly signIn: SignIn
  /** Resolves when the caller may do its next piece of a large answer. */
  readonly yieldTurn: YieldTurn
  readonly paceReading: Pace
  readonly sessions: Sessions
}

export interface Context extends Pick<Services, 'signIn' | 'sessions'> {
  readonly reads: RequestReads
  /** In the line of the viewer, whose requests have one turn together. */
  readonly yieldTurn: () => Promise<void>
  readonly paceReading: (byteLength: number) => Promise<void> | null
  /** The session the request is signed in with; null when it presented no token. */
  readonly viewer: LiveSession | null
  readonly caller: Caller
  /** What the request may still use. */
  readonly budget: RequestBudget
  /** Null without a viewer. */
  readonly states: Pick<ReadStates, 'isExpected' | 'isTorn'> | null
  /** Whether the answer is the same for everybody who asks in the state that the session was looked up in. */
  readonly isConsistent: () => boolean
  /**
   * The open sessions of the viewer, newest first; none without one. Read once for a request. They change without the state
   * that a session is looked up in, so what shows them is no longer consistent, and not kept.
   */
  readonly ownSessions: () => Promise<readonly OpenSession[]>
  /** What has a name is read through these; made when they are first asked for. */
  readonly loaders: () => Loaders
  /** The viewer's: whatever a request can reach is the viewer's own. */
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
  const reads = createRequestReads(services.reads, states?.seen ?? null, budget, paceReading)
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
