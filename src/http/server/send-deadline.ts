// The write timeout: a client has so long to take what is waiting for it, or loses its connection. `send-response.ts` starts one for each slice.
import type { ServerResponse } from 'node:http'
import { createRoundRobin, ONE_A_TURN } from '../limits/round-robin-scheduler.ts'

/** Answers what stops it. */
export type StartDeadline = (response: ServerResponse, timeoutMs: number, onExpired: () => void) => () => void

/**
 * A deadline runs from when it is this response's turn on its connection: before that, it is the one before it that is slow.
 * When it runs out, `onExpired` is called and the connection is reset, so that the kernel drops what it still holds: one
 * connection in a turn of the event loop, since that may be megabytes, and clients that stalled together expire together.
 */
export function createSendDeadlines(): StartDeadline {
  const takeTurns = createRoundRobin(ONE_A_TURN)

  return (response, timeoutMs, onExpired) => {
    let timer: NodeJS.Timeout | undefined
    let isStopped = false

    async function expire(): Promise<void> {
      await takeTurns()
      if (isStopped) return
      onExpired()
      response.socket?.resetAndDestroy()
    }

    function start(): void {
      timer = setTimeout(expire, timeoutMs)
    }

    if (response.socket) start()
    else response.once('socket', start)
    return () => {
      isStopped = true
      clearTimeout(timer)
      response.off('socket', start)
    }
  }
}
