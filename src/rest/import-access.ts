// Authorizes `POST /import`: the operator's token, or a registered client with the scope `import`.
import { hash, timingSafeEqual } from 'node:crypto'
import { bearerToken } from '../auth/bearer.ts'
import { ANY_DOMAIN } from '../auth/guards/client/client.ts'
import { type BasicCredentials, clientOf, readBasicCredentials } from '../auth/guards/client/client-secret.ts'
import { networkOf } from '../auth/limits/network.ts'
import type { RateLimits } from '../auth/limits/rate-limits.ts'
import { GatewayError } from '../errors.ts'
import type { GatewayRequest } from '../http/request.ts'
import type { Store } from '../store/contract.ts'

export interface ImportAccessParts {
  /** The operator's token; null when only registered clients may import. */
  readonly token: string | null
  readonly store: Pick<Store, 'clientByName'>
  readonly limits: RateLimits
}

/**
 * Returns the importer's name for the audit log. Throws `UNAUTHENTICATED`, `INVALID_TOKEN`, `FORBIDDEN`, or
 * `TOO_MANY_REQUESTS` for a network that guesses secrets.
 */
export type RequireImporter = (request: GatewayRequest) => Promise<string>

export function createImportAccess({ token, store, limits }: ImportAccessParts): RequireImporter {
  const expected = token === null ? null : digestOf(token)

  async function requireClient(credentials: BasicCredentials, request: GatewayRequest): Promise<string> {
    const client = await clientOf(store, credentials)
    if (client === null) {
      limits.require('login', { network: networkOf(request.client.address) })
      throw new GatewayError('INVALID_TOKEN')
    }
    // An import does not check whose data it contains, so a limit to some domains would have no effect.
    const mayImport = client.scopes.includes('import') && client.domains.includes(ANY_DOMAIN)
    if (!mayImport) throw new GatewayError('FORBIDDEN')
    return `client ${client.name}`
  }

  return async (request) => {
    const credentials = readBasicCredentials(request.header('authorization'))
    if (credentials !== null) return requireClient(credentials, request)
    const presented = bearerToken(request)
    if (presented === null) throw new GatewayError('UNAUTHENTICATED')
    if (expected === null || !timingSafeEqual(digestOf(presented), expected)) throw new GatewayError('INVALID_TOKEN')
    return 'the import token'
  }
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
