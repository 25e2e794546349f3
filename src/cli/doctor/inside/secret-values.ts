// Finds out whether a configuration file holds a secret, such as the password of the mail server.
import { readFileSync } from 'node:fs'
import { shownValue } from '../../configuration/shown-value.ts'
import { type FileEntry, parseYamlEntries } from '../../configuration/yaml-entries.ts'
import { longName, type OptionRow } from '../../options/option.ts'
import { SERVE_OPTIONS } from '../../options/serve-options.ts'

const ROWS: readonly OptionRow[] = Object.values(SERVE_OPTIONS)
/** For an option of another command, of which only the password in a URL can be a secret. */
const OTHER: Pick<OptionRow, 'isSecret'> = {}

/** The file was read already when the options of the command were read, so it is there and valid. */
export function holdsSecret(path: string): boolean {
  return parseYamlEntries(readFileSync(path, 'utf8')).entries.some(isSecret)
}

function isSecret({ key, value }: FileEntry): boolean {
  if (typeof value !== 'string') return value.some(isSecret)
  const row = ROWS.find((candidate) => longName(candidate) === key)
  return shownValue(row ?? OTHER, value) !== value
}
