// Derives a client's name in the ledger from how it names itself: a short text that is safe to show.

import { LRUCache } from 'lru-cache'
import { readBasicCredentials } from '../../auth/guards/client/client-secret.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { redact } from '../../redact.ts'

/** In UTF-16 code units: how much of a stated name is read, and how much of it is kept. */
const MAX_READ_LENGTH = 256
const MAX_LENGTH = 64
/** Size of the LRU cache of names. */
const MAX_KNOWN = 1_000
/** Parentheses are reserved for names that the ledger itself assigns. */
const UNSAFE_CHARACTERS = /[^\x20-\x7e\xa0-\xff]|[()]/g

/** Headers in which clients name themselves, by priority. */
const NAME_HEADERS = ['graphql-client-name', 'apollographql-client-name']

/** A client that does not name itself. */
const UNNAMED_CLIENT = '(unnamed)'
/** A caller that was not authenticated: its stated name proves nothing. */
export const REFUSED_CLIENT = '(refused)'

/** Returns the client's name for a request. */
export type NameClient = (caller: GatewayRequest) => string

/**
 * Uses the name in one of `NAME_HEADERS`, or the registered client that signs the user in, or the first product of
 * `User-Agent` (RFC 9110 section 10.1.5) without its version.
 */
export function createClientNames(): NameClient {
  /** Clients are few, and searching their names for secrets costs more than answering a cached request. */
  const names = new LRUCache<string, string>({ max: MAX_KNOWN })

  function shown(stated = ''): string {
    if (stated === '') return ''
    const text = stated.slice(0, MAX_READ_LENGTH)
    const known = names.get(text)
    if (known !== undefined) return known
    const name = redact(text.replace(UNSAFE_CHARACTERS, '')).slice(0, MAX_LENGTH).trim()
    names.set(text, name)
    return name
  }

  return (caller) => {
    for (const header of NAME_HEADERS) {
      const name = shown(caller.header(header))
      if (name !== '') return name
    }
    return shown(registeredClientOf(caller)) || shown(productOf(caller.header('user-agent'))) || UNNAMED_CLIENT
  }
}

/** Returns the registered client of the session, or at login the one in the request's credentials. */
function registeredClientOf({ record, header }: GatewayRequest): string | undefined {
  if (record.viewer) return record.viewer.client
  const authorization = header('authorization')
  return authorization?.startsWith('Bearer ') ? undefined : readBasicCredentials(authorization)?.name
}

function productOf(userAgent = ''): string {
  const end = userAgent.search(/[ /]/)
  return end === -1 ? userAgent : userAgent.slice(0, end)
}
