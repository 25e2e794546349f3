// Loads node:http without undici: an import would evaluate all of its exports, and two of them load Node's whole fetch.
export const { createServer, METHODS, STATUS_CODES } = process.getBuiltinModule('node:http')
