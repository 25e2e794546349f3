// Finds out whether a configuration file holds a secret, such as the password of the mail server.
import { readTextFile } from '../../configuration/text-file.ts'
import { type FileEntry, parseYamlEntries } from '../../configuration/yaml-entries.ts'
import { longName, type OptionRow } from '../../options/option.ts'
import { SERVE_OPTIONS } from '../../options/serve-options.ts'

const ROWS: readonly OptionRow[] = Object.values(SERVE_OPTIONS)
/** A URL with a user name and a password. */
const PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@:]*:[^@]+@/i
/** A parameter of a database URL that holds a password. */
const PASSWORD_PARAMETER = /^postgres(?:ql)?:.*[?&](?:ssl)?password=[^&]/i

/** The file was read already when the options of the command were read, so it is there and valid. */
export function holdsSecret(path: string): boolean {
  return parseYamlEntries(readTextFile(path)).entries.some(isSecret)
}

function isSecret({ key, value }: FileEntry): boolean {
  if (typeof value !== 'string') return value.some(isSecret)
  const row = ROWS.find((candidate) => longName(candidate) === key)
  return (row !== undefined && isSecretOption(row)) || PASSWORD.test(value) || PASSWORD_PARAMETER.test(value)
}

function isSecretOption({ isSecret = false, isEnvironmentOnly = false }: OptionRow): boolean {
  return isSecret || isEnvironmentOnly
}
