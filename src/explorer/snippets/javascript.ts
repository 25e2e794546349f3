// Writes a call with fetch, for Node (as a module) and for a browser's console.
import {
  type Body,
  type Call,
  headersOf,
  type OwnHeaders,
  REFRESH_TOKEN,
  type SignIn,
  TOKEN_VARIABLES,
} from './call.ts'

/** Part of the snippet: the `${}` placeholder is evaluated when the snippet runs. */
const AUTHORIZATION = `Authorization: \`Bearer \${accessToken}\``

export function javascript(call: Call, signIn: SignIn | null): string {
  const { method, url, token, body } = call
  const options: string[] = []
  if (method !== 'GET') options.push(`method: ${quoted(method)}`)
  const headers = headersLiteral(token, headersOf(call))
  if (headers !== null) options.push(`headers: ${headers}`)
  if (body !== null) options.push(`body: JSON.stringify(${literal(body)})`)
  const init = options.length === 0 ? '' : `, {\n  ${options.join(',\n  ')},\n}`
  return `${tokenLines(token, signIn)}const response = await fetch(${quoted(url)}${init})\nconsole.log(await response.text())\n`
}

/** Writes the headers object, including the access token; null when there are no headers. */
export function headersLiteral(token: Call['token'], headers: OwnHeaders): string | null {
  const members = [
    ...(token === 'accessToken' ? [AUTHORIZATION] : []),
    ...headers.map(([name, value]) => `${quoted(name)}: ${quoted(value)}`),
  ]
  return members.length === 0 ? null : `{ ${members.join(', ')} }`
}

/** Writes the declaration of the token that the call needs. */
export function tokenLines(token: Call['token'], signIn: SignIn | null): string {
  if (token === null) return ''
  if (!signIn)
    return `const ${token} = globalThis.process?.env.${TOKEN_VARIABLES[token]} ?? prompt('${TOKEN_VARIABLES[token]}')\n`
  return `const login = await fetch(${quoted(`${signIn.url}/login`)}, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ email: ${quoted(signIn.email)} }),
})
const { ${token} } = await login.json()
`
}

/** Writes a JSON value, which is also JavaScript, with the token placeholder replaced by a variable. */
export function literal(body: Body): string {
  return JSON.stringify(body).replaceAll(JSON.stringify(REFRESH_TOKEN), 'refreshToken')
}

export function quoted(text: string): string {
  return JSON.stringify(text)
}
