// Formats the value of an option for display, with secrets hidden.
import type { OptionRow } from '../options/option.ts'

const HIDDEN = '[hidden]'
const PARAMETER = /([?&])([^=&?]*)=([^&]*)/g
/**
 * Names of parameters in a database URL that are safe to show. A parameter of a web address may be a secret under any
 * name.
 */
const PARAMETER_NAME = /^[a-z_]+$/i
const SECRET_NAME = /pass|pwd|secret|token|key|auth|sig|code/i
const WEB_ADDRESS = /https?:\/\//i
/** The placeholder for a user and a password, before `@HOST`, in messages of this program. */
const FORM = /^[^:@/?#]*:PASSWORD$/

/** Hides a value that is a secret, and the credentials in a URL. */
export function shownValue(
  { isSecret = false, isEnvironmentOnly = false }: Pick<OptionRow, 'isSecret' | 'isEnvironmentOnly'>,
  value: string,
): string {
  if (value === '') return value
  return isSecret || isEnvironmentOnly ? HIDDEN : hideCredentials(value)
}

/** Hides passwords and tokens of a URL in a text, such as a message that repeats a value. */
export function hideCredentials(text: string): string {
  if (!text.includes('://')) return text
  const isWebAddress = WEB_ADDRESS.test(text)
  return hideUserInfo(text).replace(PARAMETER, (all: string, separator: string, name: string) =>
    !isWebAddress && PARAMETER_NAME.test(name) && !SECRET_NAME.test(name) ? all : `${separator}${name}=${HIDDEN}`,
  )
}

function hideUserInfo(text: string): string {
  const start = text.indexOf('://') + 3
  // The last @, because an unescaped password may contain one.
  const end = text.lastIndexOf('@')
  if (end < start || (FORM.test(text.slice(start, end)) && text.startsWith('@HOST', end))) return text
  const [user = ''] = /^[^:@/?#]*/.exec(text.slice(start)) ?? []
  const hasPassword = text[start + user.length] === ':'
  // Without a password, the text before @ is a user name or, in an http(s) address, a token.
  const name = !hasPassword && text.startsWith('http') ? '' : user
  const secret = hasPassword ? `:${HIDDEN}` : name === '' ? HIDDEN : ''
  return text.slice(0, start) + name + secret + text.slice(end)
}
