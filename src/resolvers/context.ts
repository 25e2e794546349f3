// What resolvers are given besides their parent and arguments.
import type { Caller } from '../auth/caller.ts'
import type { SignIn } from '../auth/sign-in.ts'
import type { LiveSession } from '../store/contract.ts'
import { createNodeIds, type NodeIds } from './identity/node-id.ts'
import { createLoaders, type Loaders } from './loaders.ts'
import { type Reads, withExpectedVersion } from './reads.ts'

/** A user with a stored workspace: what `me` is. */
export interface WorkspaceUser {
  readonly userId: number
  readonly email: string
}

/** What all requests share. */
export interface Services {
  readonly reads: Reads
  readonly signIn: SignIn
}

export interface Context extends Services {
  /** The session the request is signed in with; null when it presented no token. */
  readonly viewer: LiveSession | null
  readonly caller: Caller
  /** Whether all that was read so far is of the very state that the session was looked up in, and nothing newer. */
  readonly isConsistent: () => boolean
  /** What has a name is read through these. */
  readonly loaders: Loaders
  /** The viewer's: whatever a request can reach is the viewer's own. */
  readonly nodeIds: NodeIds
}

export function createContext(services: Services, caller: Caller, viewer: LiveSession | null): Context {
  const { signIn } = services
  let isConsistent = true
  function onMismatch(): void {
    isConsistent = false
  }
  const reads = viewer
    ? withExpectedVersion(services.reads, { stateVersion: viewer.stateVersion, onMismatch })
    : services.reads
  return {
    reads,
    signIn,
    viewer,
    caller,
    isConsistent: () => isConsistent,
    loaders: createLoaders(reads),
    nodeIds: createNodeIds(viewer?.email ?? ''),
  }
}
