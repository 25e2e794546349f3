// Checks the address of another server, formats it for messages, and reads the headers that every request to it
// carries.
import { UsageError } from '../../errors.ts'
import { validateHeaderName, validateHeaderValue } from '../../http-builtin.ts'
import { readFileOf } from '../configuration/text-file.ts'

/** `fetch` sends its own `Host` whatever it is given, and fails with the others. */
const OF_THE_CONNECTION = new Set(['host', 'content-length', 'transfer-encoding', 'expect', 'keep-alive', 'upgrade'])

/**
 * Returns the address without trailing slashes. `credentialsFlag` is the option for credentials, or null if the command
 * has none. Throws `UsageError`.
 */
export function requireServerAddress(url: string, credentialsFlag: string | null): string {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new UsageError('the address of a server must begin with http:// or https://')
  }
  // `URL` removes or encodes white space, so that paths appended to the text would belong to something else.
  if (/\s/.test(url)) throw new UsageError('the address of a server must not contain white space')
  const { username, password } = new URL(url)
  // Tested as text, because `search` and `hash` are empty for a bare ? or #.
  if (username !== '' || password !== '' || /[?#]/.test(url)) {
    const advice = credentialsFlag === null ? '' : `: put credentials into ${credentialsFlag}`
    throw new UsageError(`the address of a server must not have a user, password, query or fragment${advice}`)
  }
  return withoutSlashes(url)
}

/** Removes trailing slashes. */
export function withoutSlashes(url: string): string {
  let address = url
  while (address.endsWith('/')) address = address.slice(0, -1)
  return address
}

/** An address for messages, without user and query: they may contain a password or a signature. */
export function shownAddress(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

/**
 * Reads headers from a file, with names in lower case. `flag` is the option that names the file. Throws `UsageError`,
 * whose message never contains the value of a header.
 */
export function readHeaders(path: string | undefined, flag = '--headers'): Readonly<Record<string, string>> {
  if (path === undefined) return {}
  const headers: Record<string, string> = {}
  const lines = readFileOf(flag, path).split(/\r?\n/)
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue
    const colon = line.indexOf(':')
    const [name, value] = [line.slice(0, Math.max(colon, 0)), line.slice(colon + 1).trim()]
    try {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    } catch {
      throw new UsageError(`${flag}: ${path}:${index + 1} is not like \`Name: value\``)
    }
    if (OF_THE_CONNECTION.has(name.toLowerCase())) {
      throw new UsageError(
        `${flag}: ${path}:${index + 1}: ${name} cannot be set: the address or the connection decides it`,
      )
    }
    headers[name.toLowerCase()] = value
  }
  return headers
}
