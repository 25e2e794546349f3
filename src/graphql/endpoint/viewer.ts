// Who asks, before it is known whether the operation looks at the token at all.
import type { Sessions } from '../../auth/sessions.ts'
import { GatewayError } from '../../errors.ts'
import { viewerOf } from '../../http/bearer.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { beginStep, endStep } from '../../http/request-record.ts'
import type { LiveSession } from '../../store/contract.ts'

export interface Identified {
  /** Null without a good token. */
  readonly viewer: LiveSession | null
  /** What to answer a query with: a bad token is not none. */
  readonly refusal: GatewayError | null
}

/** Signing in does not look at the access token, as in REST: a client renews an expired one with it attached. */
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
