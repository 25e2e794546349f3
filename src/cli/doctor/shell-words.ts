// Writes paths into the commands that the doctor recommends, so that they can be pasted into a shell.
import { quoted } from '../completion/quoted.ts'

/** Paths that every shell takes as one word. */
const PLAIN = /^[\w./:@%+,-]+$/

export function shellWords(...paths: readonly string[]): string {
  return paths.map((path) => (PLAIN.test(path) ? path : quoted(path))).join(' ')
}
