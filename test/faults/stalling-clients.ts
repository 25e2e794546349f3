// A thread of clients that ask when they are told to, and read nothing: in a loop of its own, so that who measures beside it is not held up.
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { constants, setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { openSocket, requestText, type WireRequest } from '../support/wire.ts'

/** `perSecond` of them come in a second, or all at once. */
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

/** Of what the kernel has kept, whatever became of the connection. */
async function statusOf(socket: Socket): Promise<string> {
  socket.resume()
  const [first] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
  socket.destroy()
  return first instanceof Buffer ? first.toString('latin1', 9, 12) : 'none'
}

// Of this thread alone (Linux): such clients are on machines of their own, and take the processor from nobody who is measured.
setPriority(constants.priority.PRIORITY_LOW)

let sockets: readonly Socket[] = []
// Listened to from the start: sockets that nobody reads keep no loop going.
parentPort?.on('message', async (what: 'ask' | 'read') => {
  if (what === 'ask') sockets = await Promise.all(requests.map(stall))
  parentPort?.postMessage(what === 'ask' ? [] : await Promise.all(sockets.map(statusOf)))
})
parentPort?.postMessage('ready')
