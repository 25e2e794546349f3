// Writes a call for Python 3 that uses only the standard library.
import { type Body, type Call, headersOf, REFRESH_TOKEN, type SignIn } from './call.ts'

const VARIABLES = { accessToken: 'access_token', refreshToken: 'refresh_token' } as const

export function python(call: Call, signIn: SignIn | null): string {
  const { method, url, token, body } = call
  const imports = [
    'import json',
    ...(token !== null && !signIn ? ['import os'] : []),
    'import urllib.error',
    'import urllib.request',
  ]
  const headers = [
    ...(token === 'accessToken' ? ['"Authorization": f"Bearer {access_token}"'] : []),
    ...headersOf(call).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`),
  ]
  return `${imports.join('\n')}

${tokenLines(token, signIn)}request = urllib.request.Request(
    ${JSON.stringify(url)},
    method=${JSON.stringify(method)},
    headers={${headers.join(', ')}},${body === null ? '' : `\n    data=json.dumps(${literal(body)}).encode(),`}
)
try:
    answer = urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    answer = error
print(answer.read().decode())
`
}

function tokenLines(token: Call['token'], signIn: SignIn | null): string {
  if (token === null) return ''
  const name = VARIABLES[token]
  if (!signIn) return `${name} = os.environ["${name.toUpperCase()}"]\n`
  return `login = urllib.request.Request(
    ${JSON.stringify(`${signIn.url}/login`)},
    headers={"Content-Type": "application/json"},
    data=json.dumps({"email": ${JSON.stringify(signIn.email)}}).encode(),
)
${name} = json.load(urllib.request.urlopen(login))["${token}"]
`
}

/** Writes a JSON value as a Python literal. Python strings accept every JSON escape. */
function literal(body: Body): string {
  if (body === null) return 'None'
  if (body === true) return 'True'
  if (body === false) return 'False'
  if (body === REFRESH_TOKEN) return 'refresh_token'
  if (typeof body !== 'object') return JSON.stringify(body)
  if (Array.isArray(body)) return `[${body.map(literal).join(', ')}]`
  return `{${Object.entries(body)
    .map(([name, value]) => `${JSON.stringify(name)}: ${literal(value)}`)
    .join(', ')}}`
}
