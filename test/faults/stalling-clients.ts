// A thread of clients that send requests when told to, and read nothing. It has its own event loop, so that it does not
// delay the measurement.
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { constants, setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { openSocket, requestText, type WireRequest } from '../support/wire.ts'

/** `perSecond` of the clients connect in a second, or all at once. */
const { url, requests, perSecond } = workerData as {
  readonly url: string
  readonly requests: readonly WireRequest[]
  readonly perSecond: number
}

async function stall(request: WireRequest, at: number): Promise<Socket> {
  await delay((at * 1_000) / perSecond)
  const socket = await openSocket(url)
  socket.pause()
  socket.write(requestText(request))
  return socket
}

/** Returns the status from what the kernel has buffered, even if the connection is gone. */
async function statusOf(socket: Socket): Promise<string> {
  socket.resume()
  const [first] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
  socket.destroy()
  return first instanceof Buffer ? first.toString('latin1', 9, 12) : 'none'
}

// Lowers the priority of this thread alone (Linux). Real clients run on other machines and take no processor time from
// those who are measured.
setPriority(constants.priority.PRIORITY_LOW)

let sockets: readonly Socket[] = []
// The listener exists from the start, because sockets that nobody reads do not keep the event loop alive.
parentPort?.on('message', async (what: 'ask' | 'read') => {
  if (what === 'ask') sockets = await Promise.all(requests.map(stall))
  parentPort?.postMessage(what === 'ask' ? [] : await Promise.all(sockets.map(statusOf)))
})
parentPort?.postMessage('ready')
