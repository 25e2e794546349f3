// Words as bash and zsh read them: in single quotes, whatever they hold.
import type { CompletedCommand } from './completed-command.ts'

export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** The pattern of a case: every command as `words before it` and `word` are joined by a space, with nothing before the first. */
export function quotedCommands(commands: readonly CompletedCommand[]): string {
  const names = commands.flatMap(({ name }) => (name === '' ? [] : name.includes(' ') ? name : ` ${name}`))
  return names.map(quoted).join(' | ')
}
