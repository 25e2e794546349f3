// An endpoint that begins work on a request when it is its turn; what would wait for too long is refused before anything is read of it.
import { GatewayError } from '../../errors.ts'
import type { Endpoint } from '../handler.ts'
import type { GatewayRequest } from '../request.ts'
import type { GatewayResponse } from '../response.ts'
import type { Admission } from './admission.ts'
import type { OwnerOf } from './request-owner.ts'

/** One for all: with more requests than can be answered, each stack would cost as much as the refusal. */
const OVERLOADED = new GatewayError('UNAVAILABLE', { retryAfterSeconds: 1 })

export function withAdmission(endpoint: Endpoint, { isFree, wait }: Admission, ownerOf: OwnerOf): Endpoint {
  async function handleLater(request: GatewayRequest): Promise<GatewayResponse> {
    if (await wait(ownerOf(request), request.isFirstOfConnection)) return endpoint.handle(request)
    if (endpoint.refuse) return endpoint.refuse(OVERLOADED, request)
    throw OVERLOADED
  }

  return {
    ...endpoint,
    handle: (request) => (isFree(request.isFirstOfConnection) ? endpoint.handle(request) : handleLater(request)),
  }
}
