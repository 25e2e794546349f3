// Runs something once a response is over: it was sent completely, or its connection has closed.
import type { ServerResponse } from 'node:http'

/** Calls `run` once, at once for a response that is over already: it does not emit `close` again. */
export function whenClosed(response: ServerResponse, run: () => void): void {
  if (response.destroyed) run()
  else response.once('close', run)
}
