// How a server of the benchmark says that it serves.

export function listening(port: number): void {
  process.stdout.write(`listening on http://127.0.0.1:${port}\n`)
}
