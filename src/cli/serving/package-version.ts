// Reads the version of this program from package.json.
import { readFileSync } from 'node:fs'

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return version
}
