// Reports the sessions that a command had to leave open at another server.
import type { RemoteClient } from '../../import-export/remote/client.ts'
import type { CommandIo } from '../io.ts'

/** Call this at the end of a command that signed users in there. Writes nothing when all sessions are ended. */
export function reportSessionsLeft(client: Pick<RemoteClient, 'traffic'>, { stderr }: Pick<CommandIo, 'stderr'>): void {
  const { sessionsLeft } = client.traffic()
  if (sessionsLeft === 0) return
  const sessions = sessionsLeft === 1 ? '1 session is' : `${sessionsLeft} sessions are`
  stderr.write(`${sessions} left open there: the server did not accept the sign-out\n`)
}
