// Loads node:http without undici. An import of node:http would evaluate all of its exports, and two of them load Node's
// whole fetch. So the sources import from here instead, except for types.
export const { Agent, createServer, METHODS, request, STATUS_CODES, validateHeaderName, validateHeaderValue } =
  process.getBuiltinModule('node:http')
