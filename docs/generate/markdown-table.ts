// A table in Markdown, with what would break out of a cell escaped.

/** A cell's text; `|` ends a cell wherever it stands, also in code. */
function toCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}

export function code(text: string): string {
  return text === '' ? '' : `\`${text}\``
}

/** Lines without a line end after the last. */
export function markdownTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows.map((row) => row.map(toCell))]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}
