// Reads the password from libpq's password file when neither the URL nor PGPASSWORD has it.
import type { Client } from 'pg'
import pgpass from 'pgpass'

/** The server asks for a password, but none is configured. */
export class PasswordMissingError extends Error {}

/** Must be called before the driver connects. */
export function readPasswordFile(client: Client): void {
  // pgpass would write its warnings to standard error, past the log, on every connect.
  pgpass.warnTo(null)
  // Without this function the driver reads the file itself, prints a deprecation warning and goes on without a
  // password.
  if (Reflect.get(client, 'password') === null) Reflect.set(client, 'password', passwordFor)
}

function passwordFor(wanted: Parameters<typeof pgpass>[0]): Promise<string> {
  return new Promise((resolve, reject) => {
    pgpass(wanted, (password) => {
      if (password !== undefined) return resolve(password)
      reject(
        new PasswordMissingError(
          'the server asks for a password, but there is none in the URL, in PGPASSWORD or in the file ~/.pgpass (PGPASSFILE), which is used only if others cannot read it (chmod 600)',
        ),
      )
    })
  })
}
