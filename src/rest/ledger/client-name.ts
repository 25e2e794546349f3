// What a client is called in the ledger: as it names itself, in a few characters that may be shown.

import { LRUCache } from 'lru-cache'
import { readBasicCredentials } from '../../auth/guards/client/client-secret.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { redact } from '../../redact.ts'

/** In UTF-16 code units: what is looked at, and what is left of it. */
const MAX_LOOKED_AT = 256
const MAX_LENGTH = 64
/** What clients call themselves, of those that came last. */
const MAX_KNOWN = 1_000
/** Parentheses are for the names that the ledger gives by itself. */
const NOT_SHOWN = /[^\x20-\x7e\xa0-\xff]|[()]/g

/** Headers by which clients say who they are, in the order they are believed. */
const NAME_HEADERS = ['graphql-client-name', 'apollographql-client-name']

/** A client that says nothing of itself. */
export const UNNAMED_CLIENT = '(unnamed)'
/** A caller that was not authenticated: the name it gives itself proves nothing. */
export const REFUSED_CLIENT = '(refused)'

/** What a request is called. */
export type NameClient = (caller: GatewayRequest) => string

/** The name in a header for it, or the registered client's that signs a user in, or the first product of `User-Agent` (RFC 9110 section 10.1.5) without its version. */
export function createClientNames(): NameClient {
  /** Clients are few, and to look for secrets in what they are called costs more than an answer that is kept. */
  const names = new LRUCache<string, string>({ max: MAX_KNOWN })

  function shown(stated = ''): string {
    if (stated === '') return ''
    const text = stated.slice(0, MAX_LOOKED_AT)
    const known = names.get(text)
    if (known !== undefined) return known
    const name = redact(text.replace(NOT_SHOWN, '')).slice(0, MAX_LENGTH).trim()
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

/** Of the session; at the login, where it shows its credentials, of these. */
function registeredClientOf({ record, header }: GatewayRequest): string | undefined {
  if (record.viewer) return record.viewer.client
  const authorization = header('authorization')
  return authorization?.startsWith('Bearer ') ? undefined : readBasicCredentials(authorization)?.name
}

function productOf(userAgent = ''): string {
  const end = userAgent.search(/[ /]/)
  return end === -1 ? userAgent : userAgent.slice(0, end)
}
