// Parses the output of commands, and the log: JSON, one value per line.

/** The values of the complete lines: a process that runs may still be writing the last one. */
export function jsonLines(text: string) {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}
