// Waits until a program that was started listens.
import { connect } from 'node:net'

const LOOK_AGAIN_MS = 20

/** Resolves when somebody listens on the port of this machine; `assertAlive` throws when nobody will. */
export async function untilListening(port: number, assertAlive: () => void): Promise<void> {
  while (!(await isListening(port))) {
    assertAlive()
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const { promise, resolve } = Promise.withResolvers<boolean>()
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  const answer = await promise
  socket.destroy()
  return answer
}
