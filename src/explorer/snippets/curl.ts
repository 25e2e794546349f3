// A call for a shell: curl, and sed to take a token out of an answer.
import { type Call, REFRESH_TOKEN, type SignIn } from './call.ts'

const JSON_HEADER = "-H 'Content-Type: application/json'"
const VARIABLES = { accessToken: 'ACCESS_TOKEN', refreshToken: 'REFRESH_TOKEN' } as const

export function curl({ method, url, token, body }: Call, signIn: SignIn | null): string {
  const isPlain = method === 'GET' || (method === 'POST' && body !== null)
  const lines = [`curl -s ${isPlain ? '' : `-X ${method} `}${shellQuoted(url)}`]
  if (token === 'accessToken') lines.push('-H "Authorization: Bearer $ACCESS_TOKEN"')
  if (body !== null) lines.push(JSON_HEADER, `-d ${shellBody(JSON.stringify(body))}`)
  const prelude = token !== null && signIn ? `${signInLine(signIn, token)}\n` : ''
  return prelude + lines.join(' \\\n  ')
}

function signInLine({ url, email }: SignIn, token: keyof typeof VARIABLES): string {
  const login = `curl -s ${shellQuoted(`${url}/login`)} ${JSON_HEADER} -d ${shellQuoted(JSON.stringify({ email }))}`
  return `${VARIABLES[token]}=$(${login} \\\n  | sed 's/.*"${token}":"\\([^"]*\\)".*/\\1/')`
}

function shellBody(json: string): string {
  return shellQuoted(json).replaceAll(REFRESH_TOKEN, `'"$REFRESH_TOKEN"'`)
}

function shellQuoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
