// The password for a server that asks for one, where neither the URL nor PGPASSWORD has it: from libpq's file.
import type { Client } from 'pg'
import pgpass from 'pgpass'

/** The server asks for a password, and there is none. */
export class PasswordMissingError extends Error {}

/** To be called before the driver connects. */
export function readPasswordFile(client: Client): void {
  // It would write past the log, each time that somebody connects.
  pgpass.warnTo(null)
  // Without one of its own the driver reads the file too, warns that it will not for ever, and goes on without a password.
  if (Reflect.get(client, 'password') === null) Reflect.set(client, 'password', passwordFor)
}

function passwordFor(wanted: Parameters<typeof pgpass>[0]): Promise<string> {
  return new Promise((resolve, reject) => {
    pgpass(wanted, (password) => {
      if (password !== undefined) return resolve(password)
      reject(
        new PasswordMissingError(
          'the server asks for a password, and there is none in the URL, in PGPASSWORD or in the file ~/.pgpass (PGPASSFILE), which is read where others cannot read it (chmod 600)',
        ),
      )
    })
  })
}
