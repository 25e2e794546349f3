// A word as bash and zsh read it: in single quotes, whatever it holds.

export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
