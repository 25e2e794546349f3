// Moves users in from another server of the contract, several at once. Each user is taken in as a whole, and a failure
// of one does not affect the others.
import { StoreRefusedError } from '../../store/contract.ts'
import { eachOf } from '../each-of.ts'
import { ContractError, type RemoteClient } from './client.ts'
import { NOTHING_SEEN } from './seen-workspace.ts'
import { createRemoteSession } from './session.ts'
import { type TakeInOptions, type TakenIn, takeIn } from './take-in.ts'
import { type Verified, verify } from './verify.ts'

export interface RemoteUser {
  /** The canonical email. */
  readonly email: string
  /** The email as the other server knows it. */
  readonly login: string
  /** Names the user in messages without showing the email. */
  readonly label: string
}

export interface MoveInOptions extends TakeInOptions {
  readonly client: RemoteClient
  readonly concurrency: number
  readonly stop: AbortSignal
}

export interface UserEvents<T> {
  /** The user is done, and everything acknowledged here is stored. */
  readonly onDone: (user: RemoteUser, outcome: T) => Promise<void>
  /** The other server broke the contract, or what it has cannot be stored here. */
  readonly onFailed: (user: RemoteUser, error: ContractError | StoreRefusedError) => void
  /** Nothing was asked for the user, because the other server is down. */
  readonly onLeft: (user: RemoteUser) => void
}

/**
 * Throws errors that concern more than one user, and the reason of `stop`. Users in progress are not done then.
 */
export function moveIn(
  users: readonly RemoteUser[],
  options: MoveInOptions,
  events: UserEvents<TakenIn>,
): Promise<void> {
  return eachUser(users, options, events, (user, session) => takeIn(user.email, session, NOTHING_SEEN, options))
}

/** Reads both sides of each user again and compares them. Throws like `moveIn`. */
export function verifyAll(
  users: readonly RemoteUser[],
  options: MoveInOptions,
  events: UserEvents<Verified>,
): Promise<void> {
  const { store, fields } = options
  return eachUser(users, options, events, ({ email }, session) => verify(email, session, store, fields))
}

function eachUser<T>(
  users: readonly RemoteUser[],
  { client, concurrency, stop }: MoveInOptions,
  { onDone, onFailed, onLeft }: UserEvents<T>,
  work: (user: RemoteUser, session: ReturnType<typeof createRemoteSession>) => Promise<T>,
): Promise<void> {
  return eachOf(users, concurrency, async (user) => {
    stop.throwIfAborted()
    if (client.isDown()) return onLeft(user)
    const session = createRemoteSession(client, user.login)
    try {
      await onDone(user, await work(user, session))
    } catch (error) {
      if (!(error instanceof ContractError || error instanceof StoreRefusedError)) throw error
      onFailed(user, error)
    } finally {
      await session.close()
    }
  })
}
