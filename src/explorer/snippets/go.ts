// Writes a call as a Go program that uses only the standard library.
import { type Call, headersOf, REFRESH_TOKEN, type SignIn, TOKEN_VARIABLES } from './call.ts'

export function go(call: Call, signIn: SignIn | null): string {
  const { method, url, token, body } = call
  const signsIn = token !== null && signIn !== null
  const packages = [
    ...(signsIn ? ['encoding/json'] : []),
    'fmt',
    'io',
    'net/http',
    ...(token !== null && !signIn ? ['os'] : []),
    ...(signsIn || body !== null ? ['strings'] : []),
  ]
  const lines = [
    ...tokenLines(token, signIn),
    `request, err := http.NewRequest(${JSON.stringify(method)}, ${JSON.stringify(url)}, ${bodyReader(body)})`,
    ...check(),
    ...(token === 'accessToken' ? ['request.Header.Set("Authorization", "Bearer "+accessToken)'] : []),
    ...headersOf(call).map(([name, value]) => `request.Header.Set(${JSON.stringify(name)}, ${JSON.stringify(value)})`),
    'response, err := http.DefaultClient.Do(request)',
    ...check(),
    'text, err := io.ReadAll(response.Body)',
    ...check(),
    'fmt.Println(string(text))',
  ]
  return `package main

import (
${packages.map((name) => `\t"${name}"`).join('\n')}
)

func main() {
${lines.map((line) => `\t${line}`).join('\n')}
}
`
}

function tokenLines(token: Call['token'], signIn: SignIn | null): readonly string[] {
  if (token === null) return []
  if (!signIn) return [`${token} := os.Getenv("${TOKEN_VARIABLES[token]}")`]
  const body = JSON.stringify(JSON.stringify({ email: signIn.email }))
  return [
    `login, err := http.Post(${JSON.stringify(`${signIn.url}/login`)}, "application/json", strings.NewReader(${body}))`,
    ...check(),
    'var tokens map[string]string',
    'if err := json.NewDecoder(login.Body).Decode(&tokens); err != nil {',
    '\tpanic(err)',
    '}',
    `${token} := tokens["${token}"]`,
  ]
}

function check(): readonly string[] {
  return ['if err != nil {', '\tpanic(err)', '}']
}

function bodyReader(body: Call['body']): string {
  if (body === null) return 'nil'
  const text = JSON.stringify(JSON.stringify(body)).replaceAll(REFRESH_TOKEN, '" + refreshToken + "')
  return `strings.NewReader(${text})`
}
