// Prints the line by which a server of the benchmark announces its URL.

export function listening(port: number): void {
  process.stdout.write(`listening on http://127.0.0.1:${port}\n`)
}
