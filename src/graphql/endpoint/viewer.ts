// Identifies the viewer of a request, before it is known whether the operation needs an access token.
import { viewerOf } from '../../auth/bearer.ts'
import type { Sessions } from '../../auth/sessions.ts'
import { GatewayError } from '../../errors.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { beginStep, endStep } from '../../http/request-record.ts'
import type { LiveSession } from '../../store/contract.ts'

export interface Identified {
  /** Null without a valid access token. */
  readonly viewer: LiveSession | null
  /** The error for a query with a bad token, which is not the same as no token; null otherwise. */
  readonly refusal: GatewayError | null
}

/**
 * A bad token does not throw: as in REST, sign-in ignores it, because clients attach the expired one when they renew
 * it.
 */
export async function identify(request: GatewayRequest, sessions: Sessions): Promise<Identified> {
  try {
    const checkedAt = beginStep(request.record)
    const viewer = await viewerOf(request, sessions)
    endStep(request.record, 'session check', checkedAt)
    request.record.viewer = viewer
    return { viewer, refusal: null }
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'INVALID_TOKEN') return { viewer: null, refusal: error }
    throw error
  }
}
