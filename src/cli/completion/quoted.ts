// Quotes words for bash and zsh in single quotes.
import type { CompletedCommand } from './completed-command.ts'

export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/**
 * The pattern of a shell `case` that matches every command. The shell matches "command so far", a space and the next
 * word, so a command of one word begins with a space.
 */
export function quotedCommands(commands: readonly CompletedCommand[]): string {
  const names = commands.flatMap(({ name }) => (name === '' ? [] : name.includes(' ') ? name : ` ${name}`))
  return names.map(quoted).join(' | ')
}
