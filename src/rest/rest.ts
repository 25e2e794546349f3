// Turns the rows of the contract into endpoints.
import { createCompression } from '../http/compression/compression.ts'
import type { Endpoint } from '../http/handler.ts'
import { createAcceptEncodingReader } from '../http/negotiation/content-coding.ts'
import type { EndpointServices } from '../resolvers/services.ts'
import { traced } from '../resolvers/tracing/trace.ts'
import { readEndpoint } from './read-endpoint.ts'
import { READ_ROUTES, SESSION_ROUTES } from './routes.ts'
import { sessionEndpoint } from './session-endpoint.ts'

/** With `isTraceEnabled` the endpoints send the header `Gateway-Trace`. */
export function createRestEndpoints(services: EndpointServices, isTraceEnabled: boolean): readonly Endpoint[] {
  const coding = {
    readAcceptEncoding: createAcceptEncodingReader(),
    compression: createCompression(services.cache, services.inFlight),
  }
  const endpoints = [
    ...SESSION_ROUTES.map((route) => sessionEndpoint(route, services)),
    ...READ_ROUTES.map((route) => readEndpoint(route, services, coding)),
  ]
  return isTraceEnabled ? endpoints.map(traced) : endpoints
}
