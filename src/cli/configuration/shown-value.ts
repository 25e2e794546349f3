// The value of an option as it may be shown on a screen: secrets are hidden.
import type { OptionRow } from '../options/option.ts'

const HIDDEN = '[hidden]'
const PARAMETER = /([?&])([^=&?]*)=([^&]*)/g
/** What the parameters of a database's URL are called, unless they are a secret. Those of a web address may be one, whatever they are called. */
const PARAMETER_NAME = /^[a-z_]+$/i
const SECRET_NAME = /pass|pwd|secret|token|key|auth|sig|code/i
const WEB_ADDRESS = /https?:\/\//i
/** What a message of ours shows in the place of a user and a password, before `@HOST`. */
const FORM = /^[^:@/?#]*:PASSWORD$/

/** Never a secret: not a value that is one, not the password in a URL. */
export function shownValue({ isSecret = false, isEnvironmentOnly = false }: OptionRow, value: string): string {
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
  // The last, since a password that was not escaped may hold one.
  const end = text.lastIndexOf('@')
  if (end < start || (FORM.test(text.slice(start, end)) && text.startsWith('@HOST', end))) return text
  const [user = ''] = /^[^:@/?#]*/.exec(text.slice(start)) ?? []
  const hasPassword = text[start + user.length] === ':'
  // Without a password, what stands before @ is the name of a user, or a token of an http(s) address.
  const name = !hasPassword && text.startsWith('http') ? '' : user
  const secret = hasPassword ? `:${HIDDEN}` : name === '' ? HIDDEN : ''
  return text.slice(0, start) + name + secret + text.slice(end)
}
