// mail test: sends one mail through the configured server, so that the operator can see whether it arrives.
import { randomUUID } from 'node:crypto'
import { canonicalEmail } from '../../auth/email.ts'
import { composeCodeMail } from '../../auth/mail/code-mail.ts'
import { createMailServer, MailError } from '../../auth/mail/mail-server.ts'
import { UsageError } from '../../errors.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { type MailTestConfig, toMailServerOptions } from '../options/sign-in/mail-options.ts'

/** Looks like a sign-in code, but is none. */
const EXAMPLE = { code: 'EXAMPLE0', network: 'the mail test', agent: 'workspace-gateway mail test', validMinutes: 10 }

export async function runMailTest(address: string, config: MailTestConfig, io: CommandIo): Promise<ExitCode> {
  const options = toMailServerOptions(config)
  if (!options)
    throw new UsageError(
      'name the mail server and the sender: --mail-url smtps://USER:PASSWORD@HOST --mail-from ADDRESS',
    )
  const to = canonicalEmail(address)
  if (to === null) throw new UsageError('the address to mail to is not a valid email address')
  try {
    await createMailServer(options).send({
      id: randomUUID(),
      to,
      ...composeCodeMail({ ...EXAMPLE, askedAt: io.clock() }),
    })
  } catch (error) {
    if (!(error instanceof MailError)) throw error
    io.stderr.write(`not sent: ${error.message}\n`)
    return 1
  }
  io.stdout.write('sent: the mail server accepted the mail; check that it arrives, and that it is not marked as spam\n')
  return 0
}
