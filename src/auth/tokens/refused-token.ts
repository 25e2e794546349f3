// Makes the failure for a token that is refused. Clients mix the two kinds up, and renewing does not help them then.
import { GatewayError } from '../../errors.ts'
import { isLikeRefreshToken } from './refresh-token.ts'

/** For what was presented as an access token. */
export function refusedAccessToken(token: string): GatewayError {
  return invalidToken(isLikeRefreshToken(token) ? 'This is a refresh token: send the access token here.' : null)
}

/** For what was presented as a refresh token. */
export function refusedRefreshToken(token: string): GatewayError {
  return invalidToken(isLikeAccessToken(token) ? 'This is an access token: send the refresh token here.' : null)
}

/** A JWT begins with a JSON object in base64url. */
function isLikeAccessToken(token: string): boolean {
  return token.startsWith('eyJ')
}

function invalidToken(message: string | null): GatewayError {
  return new GatewayError('INVALID_TOKEN', message === null ? {} : { message })
}
