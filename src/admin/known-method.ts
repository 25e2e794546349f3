// Names the method of a request as OpenTelemetry's HTTP conventions do, for metrics and traces alike.

/** OpenTelemetry's word for a value outside a closed list. */
const OTHER = '_OTHER'
/** The methods of RFC 9110 and RFC 5789: a client may send any other word. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'])

/** Returns the method, or `_OTHER` for one that the conventions do not know. */
export function knownMethod(method: string): string {
  return METHODS.has(method) ? method : OTHER
}
