// Defines the endpoints for operators, and for services that verify the gateway's tokens.
import { toGatewayError } from '../auth/to-gateway-error.ts'
import type { Keyset } from '../auth/tokens/keyset.ts'
import { GatewayError } from '../errors.ts'
import type { Endpoint } from '../http/handler.ts'
import { jsonResponse, NO_STORE } from '../http/response.ts'
import type { Awaitable } from '../store/contract.ts'

/** Seconds that a verifier may cache the public keys. A new key signs as soon as it is stored. */
const KEYS_MAX_AGE_SECONDS = 60

/** Answered under any load, so that a supervisor does not mistake a busy gateway for a hung one. */
export const HEALTH_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

export interface HealthServices {
  /** Throws unless the database answers. */
  readonly ping: () => Awaitable<void>
  readonly isDraining: () => boolean
}

export function createHealthEndpoints({ ping, isDraining }: HealthServices): readonly Endpoint[] {
  return [
    { method: 'GET', path: '/healthz', handle: async () => jsonResponse({ status: 'ok' }, NO_STORE) },
    {
      method: 'GET',
      path: '/readyz',
      async handle() {
        if (isDraining()) throw new GatewayError('SHUTTING_DOWN', { retryAfterSeconds: 1 })
        try {
          await ping()
        } catch (error) {
          throw asUnavailable(error)
        }
        return jsonResponse({ status: 'ready' }, NO_STORE)
      },
    },
  ]
}

/** Whatever the database fails with, such as tables that are gone, the answer is no bug of the check. */
function asUnavailable(error: unknown): unknown {
  if (toGatewayError(error).code === 'UNAVAILABLE') return error
  return new GatewayError('UNAVAILABLE', { retryAfterSeconds: 1, cause: error })
}

export function createOperationsEndpoints(keyset: Keyset, health: HealthServices): readonly Endpoint[] {
  return [
    ...createHealthEndpoints(health),
    {
      method: 'GET',
      path: '/.well-known/jwks.json',
      handle: async () =>
        jsonResponse(await keyset.publicKeys(), {
          'content-type': 'application/jwk-set+json',
          'cache-control': `public, max-age=${KEYS_MAX_AGE_SECONDS}`,
        }),
    },
  ]
}
