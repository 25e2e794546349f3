// Enforces the write timeout: a client that does not take the pending bytes in time loses its connection.
// `send-response.ts` starts one deadline per slice.
import type { ServerResponse } from 'node:http'
import { createRoundRobin, ONE_A_TURN } from '../limits/round-robin-scheduler.ts'
import { readUntakenBytes } from './pacing/untaken-bytes.ts'

/** Starts a deadline and returns the function that stops it. */
export type StartDeadline = (response: ServerResponse, onExpired: () => void) => () => void

/**
 * The write timeout applies to each slice of this size. Together they set the minimum rate at 20 seconds: 3 KiB/s, or 1.3
 * for a client that has been seen to read.
 */
export const SLICE_BYTES = 65_536

/** Pending deadlines are looked at this many times in a timeout. */
const LOOKS = 8
/** Part of the timeout after which a client is late: then the kernel is asked. Most clients take a slice sooner. */
const LATE = 0.25
/**
 * How many timeouts a client that has been seen to read may take for a slice. With the default of 20 s, clients that stop
 * reading are gone within a minute.
 */
const PATIENCE = 2.5
/** A system takes this much only for a program that reads: at first, its buffer has about an eighth of it. */
const READ_BYTES = 1_048_576

interface Pending {
  readonly response: ServerResponse
  readonly onExpired: () => void
  /** When the client was last seen to have taken a slice. Milliseconds of `performance.now`. */
  since: number
  /** Bytes that the client had not taken then; null before the kernel was asked. */
  untaken: number | null
}

/**
 * The deadline starts when it is this response's turn on its connection: before that, the response ahead of it is the
 * slow one. When it expires, `onExpired` is called and the connection is reset, so that the kernel drops its buffers.
 * Those may be megabytes, and clients that stalled together expire together, so only one connection is reset per turn
 * of the event loop.
 *
 * A slow client looks as if it had stalled, because the kernels report its reads in steps. The one that sends accepts
 * more only once about a third of its buffer is free, which may be more than a megabyte, so it is asked how much the
 * client has taken. The one that receives announces room once a sixteenth of its buffer is free, which may be two
 * megabytes. So a client that has been seen to read has more than twice the time for the next slice.
 */
export function createSendDeadlines(timeoutMs: number): StartDeadline {
  const takeTurns = createRoundRobin(ONE_A_TURN)
  const pending = new Set<Pending>()
  /** Answers whose client was late and took a slice, or has taken much. */
  const read = new WeakSet<ServerResponse>()
  let isLooking = false

  async function expire(deadline: Pending): Promise<void> {
    await takeTurns()
    if (!pending.delete(deadline)) return
    deadline.onExpired()
    deadline.response.socket?.resetAndDestroy()
  }

  /** Notes what the kernel says that the client has taken. One that takes a slice has its time anew. */
  function noteTaken(deadline: Pending, untaken: number, now: number): void {
    const { response } = deadline
    const { bytesWritten = 0 } = response.socket ?? {}
    if (deadline.untaken !== null && deadline.untaken - untaken >= SLICE_BYTES) {
      read.add(response)
      deadline.since = now
      deadline.untaken = untaken
    }
    deadline.untaken ??= untaken
    if (bytesWritten - untaken >= READ_BYTES) read.add(response)
  }

  async function look(): Promise<void> {
    const now = performance.now()
    const late = [...pending].filter(({ since }) => now - since >= timeoutMs * LATE)
    const untakenBytes = await readUntakenBytes(late.flatMap(({ response }) => response.socket ?? []))
    for (const deadline of late) {
      const { socket } = deadline.response
      const untaken = socket ? untakenBytes.get(socket) : undefined
      if (untaken !== undefined) noteTaken(deadline, untaken, now)
      const limitMs = read.has(deadline.response) ? timeoutMs * PATIENCE : timeoutMs
      if (now - deadline.since >= limitMs) void expire(deadline)
    }
    isLooking = false
    lookLater()
  }

  function lookLater(): void {
    if (isLooking || pending.size === 0) return
    isLooking = true
    // The connections themselves keep the process alive.
    setTimeout(look, timeoutMs / LOOKS).unref()
  }

  return (response, onExpired) => {
    const deadline: Pending = { response, onExpired, since: 0, untaken: null }

    function start(): void {
      deadline.since = performance.now()
      pending.add(deadline)
      lookLater()
    }

    if (response.socket) start()
    else response.once('socket', start)
    return () => {
      pending.delete(deadline)
      response.off('socket', start)
    }
  }
}
