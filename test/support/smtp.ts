// Starts a real mail server for a test and keeps the mails that it receives.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { onTestFinished } from 'vitest'
import { searchFor } from './searched-logs.ts'

export interface ReceivedMail {
  readonly to: string
  /** The text as received, with quoted-printable decoded. */
  readonly source: string
  readonly code: string
}

export interface TestMailServer {
  readonly port: number
  /** Without TLS. */
  readonly url: string
  readonly mails: readonly ReceivedMail[]
  /** Waits for the mail with this index. */
  readonly mail: (index: number) => Promise<ReceivedMail>
  readonly close: () => Promise<void>
}

export interface MailServerOptions extends SMTPServerOptions {
  readonly port?: number
  /** Called when a mail has arrived as a whole, before the server accepts it; the client is told what it throws. */
  readonly onMail?: (mail: ReceivedMail) => Promise<void> | void
}

export async function startMailServer({
  port = 0,
  onMail,
  ...options
}: MailServerOptions = {}): Promise<TestMailServer> {
  const mails: ReceivedMail[] = []
  const waiting: (() => void)[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    ...options,
    async onData(stream, session, callback) {
      const received = await text(stream).catch(() => null)
      // The client was killed in the middle of its mail, so nobody waits for an answer.
      if (received === null) return
      const source = undoQuotedPrintable(received)
      const to = session.envelope.rcptTo.map(({ address }) => address).join()
      const mail = { to, source, code: /^ {4}([0-9A-Z]{8})\r?$/m.exec(source)?.[1] ?? '' }
      searchFor(mail.code)
      try {
        await onMail?.(mail)
      } catch (error) {
        callback(error instanceof Error ? error : new Error(String(error)))
        return
      }
      mails.push(mail)
      callback(null)
      for (const wake of waiting.splice(0)) wake()
    },
  })
  // A client that is killed breaks off its connection.
  server.on('error', () => {})
  const listening = server.listen(port, '127.0.0.1')
  await once(listening, 'listening')
  const close = () => new Promise<void>((resolve) => server.close(resolve))
  onTestFinished(close)
  const taken = (listening.address() as AddressInfo).port
  return {
    port: taken,
    url: `smtp://127.0.0.1:${taken}`,
    mails,
    async mail(index) {
      for (;;) {
        const found = mails[index]
        if (found) return found
        await new Promise<void>((resolve) => waiting.push(resolve))
      }
    },
    close,
  }
}

function undoQuotedPrintable(source: string): string {
  return source
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
}
