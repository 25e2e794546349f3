// What resolvers are given besides their parent and arguments.
import DataLoader from 'dataloader'
import type { Caller } from '../auth/caller.ts'
import type { SignIn } from '../auth/sign-in.ts'
import type { LiveSession, ProjectRef, StoredExport } from '../store/contract.ts'
import { createFieldsOf, type FieldsOf } from './documents/parsed-documents.ts'
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
  readonly fieldsOf: FieldsOf
  /** Whether all that was read so far is of the very state that the session was looked up in, and nothing newer. */
  readonly isConsistent: () => boolean
  /** Asks once per project and request, and once for all projects of a page. */
  readonly latestExports: DataLoader<ProjectRef, StoredExport | null, string>
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
    fieldsOf: createFieldsOf(),
    isConsistent: () => isConsistent,
    latestExports: new DataLoader((refs) => Promise.all(refs.map(reads.latestExport)), {
      cacheKeyFn: ({ userId, ref }) => `${userId} ${ref}`,
    }),
  }
}
