// Writes a call as a shell command: curl, and sed to extract a token from the login response.
import { type Call, headersOf, REFRESH_TOKEN, type SignIn, TOKEN_VARIABLES } from './call.ts'

const JSON_HEADER = "-H 'Content-Type: application/json'"

export function curl(call: Call, signIn: SignIn | null): string {
  const { method, url, token, body } = call
  const isPlain = method === 'GET' || (method === 'POST' && body !== null)
  const lines = [`curl -s ${isPlain ? '' : `-X ${method} `}${shellQuoted(url)}`]
  if (token === 'accessToken') lines.push('-H "Authorization: Bearer $ACCESS_TOKEN"')
  for (const [name, value] of headersOf(call)) lines.push(`-H ${shellQuoted(headerText(name, value))}`)
  if (body !== null) lines.push(`-d ${shellBody(JSON.stringify(body))}`)
  const prelude = token !== null && signIn ? `${signInLine(signIn, token)}\n` : ''
  return prelude + lines.join(' \\\n  ')
}

/** In curl, `Name:` removes one of its own headers, and `Name;` sends a header with an empty value. */
function headerText(name: string, value: string): string {
  return value === '' ? `${name};` : `${name}: ${value}`
}

function signInLine({ url, email }: SignIn, token: keyof typeof TOKEN_VARIABLES): string {
  const login = `curl -s ${shellQuoted(`${url}/login`)} ${JSON_HEADER} -d ${shellQuoted(JSON.stringify({ email }))}`
  return `${TOKEN_VARIABLES[token]}=$(${login} \\\n  | sed 's/.*"${token}":"\\([^"]*\\)".*/\\1/')`
}

function shellBody(json: string): string {
  return shellQuoted(json).replaceAll(REFRESH_TOKEN, `'"$REFRESH_TOKEN"'`)
}

function shellQuoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
