// Endpoints for those who run the gateway, and for those who verify its tokens.
import type { Keyset } from '../auth/keyset.ts'
import { GatewayError } from '../errors.ts'
import type { Awaitable } from '../store/store.ts'
import type { Endpoint } from './handler.ts'
import { jsonReply, NO_STORE } from './reply.ts'

/** Seconds that a verifier may keep the public keys; a new key signs from the moment it is stored. */
const KEYS_MAX_AGE_SECONDS = 60

export interface OperationsServices {
  readonly keyset: Keyset
  /** Throws unless the database answers. */
  readonly ping: () => Awaitable<void>
  readonly isDraining: () => boolean
}

export function createOperationsEndpoints({ keyset, ping, isDraining }: OperationsServices): readonly Endpoint[] {
  return [
    { method: 'GET', path: '/healthz', handle: async () => jsonReply({ status: 'ok' }, NO_STORE) },
    {
      method: 'GET',
      path: '/readyz',
      async handle() {
        if (isDraining())
          throw new GatewayError('UNAVAILABLE', { message: 'The gateway is shutting down.', retryAfterSeconds: 1 })
        await ping()
        return jsonReply({ status: 'ready' }, NO_STORE)
      },
    },
    {
      method: 'GET',
      path: '/.well-known/jwks.json',
      handle: async () =>
        jsonReply(await keyset.publicKeys(), {
          'content-type': 'application/jwk-set+json',
          'cache-control': `public, max-age=${KEYS_MAX_AGE_SECONDS}`,
        }),
    },
  ]
}
