// Checks who may sign in from where the doctor runs. It sends an invalid email, so no session is opened and no mail is
// sent.
import { type Check, MAIL_GUARD, type Verdict } from '../check.ts'
import { isDirect, pathBelow } from './client.ts'
import { codeOf, hasErrors, type Outside, textMember } from './context.ts'
import { doErrorsArrive, ERRORS_ARE_LOST } from './message-checks.ts'

const NO_EMAIL = 'doctor'
const JSON_BODY = { 'content-type': 'application/json', accept: 'application/json' }

export const SIGN_IN_CHECKS: readonly Check<Outside>[] = [
  { name: 'login-open', run: loginOpen },
  { name: 'login-open-graphql', run: loginOpenGraphql },
]

async function loginOpen(outside: Outside): Promise<Verdict> {
  const { body } = await outside.ask({
    method: 'POST',
    path: '/login',
    headers: JSON_BODY,
    body: JSON.stringify({ email: NO_EMAIL }),
  })
  // Only the error tells a login that admits anybody from one that is refused.
  if (codeOf(body) === '' && !(await doErrorsArrive(outside))) return ERRORS_ARE_LOST
  if (codeOf(body) !== 'INVALID_EMAIL' || (await isGuarded(outside))) return null
  const path = pathBelow(outside.target.url, '/login')
  return {
    problem: 'anyone who reaches this address can sign in as anyone: POST /login asks only for an email',
    fix: {
      gateway: MAIL_GUARD,
      nginx: `location = ${path} { deny all; }`,
      haproxy: `http-request deny if { path ${path} }`,
      caddy: `respond ${path} 403`,
      apache: `ProxyPass ${path} !`,
    },
  }
}

async function loginOpenGraphql(outside: Outside): Promise<Verdict> {
  const { body } = await outside.ask({
    method: 'POST',
    path: '/graphql',
    headers: JSON_BODY,
    body: JSON.stringify({ query: `mutation { login(email: "${NO_EMAIL}") { accessToken } }` }),
  })
  if (!hasErrors(body) && !(await doErrorsArrive(outside))) return ERRORS_ARE_LOST
  if (!body.includes('"INVALID_EMAIL"') || (await isGuarded(outside))) return null
  return {
    problem:
      'anyone who reaches this address can sign in as anyone: the mutation login asks only for an email, even if POST /login is blocked',
    fix: { gateway: MAIL_GUARD },
  }
}

/**
 * Whether a login guard protects sign-in after all. The guard `mail` answers the same to an invalid email, but sends a
 * code to a valid one. The guard `local` lets this user in, as it should when no proxy is in between.
 */
async function isGuarded({ ask, target }: Outside): Promise<boolean> {
  const { body } = await ask({ path: '/explorer.json' })
  const guards = textMember(body, 'loginGuard')?.split(',') ?? []
  return guards.includes('mail') || (guards.includes('local') && isDirect(target))
}
