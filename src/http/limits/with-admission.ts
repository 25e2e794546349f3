// An endpoint that works only on what it may begin now; the rest is refused before anything is read of it.
import { GatewayError } from '../../errors.ts'
import type { Endpoint } from '../handler.ts'
import type { Admit } from './admission.ts'

export function withAdmission(endpoint: Endpoint, admit: Admit): Endpoint {
  return {
    ...endpoint,
    handle(request) {
      if (admit()) return endpoint.handle(request)
      const error = new GatewayError('UNAVAILABLE', { retryAfterSeconds: 1 })
      return endpoint.refuse ? Promise.resolve(endpoint.refuse(error, request)) : Promise.reject(error)
    },
  }
}
