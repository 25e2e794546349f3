// The mail server that codes go out through: its URL, how it is spoken to, and what its refusals mean.
import { createTransport } from 'nodemailer'

/** A send that takes longer is broken off, well within the lease of its mail. */
const SEND_TIMEOUT_MS = 40_000
const CONNECT_TIMEOUT_MS = 10_000
const PORTS: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 }

/** `required`: TLS from the start (smtps) or by STARTTLS (RFC 3207), or no mail. `off`: none, for a relay on this machine. */
export type MailTls = 'required' | 'off'

export interface MailServerOptions {
  /** `smtp(s)://USER:PASSWORD@HOST:PORT`. */
  readonly url: string
  readonly tls: MailTls
  /** An address, or a name and an address: `Workspace <no-reply@example.com>`. */
  readonly from: string
  readonly subject: string
}

export interface Mail {
  readonly to: string
  readonly text: string
  readonly html: string
  /** The same for every attempt to send this mail, so that a mailbox can tell a second copy (RFC 5322 section 3.6.4). */
  readonly id: string
}

export interface MailServer {
  /** Resolves once the server has taken the mail over. Throws `MailError`, also when `stop` is aborted. */
  readonly send: (mail: Mail, stop?: AbortSignal) => Promise<void>
}

/** The message never holds an address or a password. */
export class MailError extends Error {
  override readonly name = 'MailError'
  /** The server said that it will never take this mail (5yz, RFC 5321 section 4.2.1). */
  readonly isPermanent: boolean

  constructor(message: string, isPermanent: boolean) {
    super(message)
    this.isPermanent = isPermanent
  }
}

/** What is wrong with the URL, in words that do not repeat it; null when nothing is. */
export function mailUrlProblem(url: string): string | null {
  const parsed = URL.parse(url)
  if (!parsed || PORTS[parsed.protocol] === undefined || parsed.hostname === '') {
    return 'must be smtp://USER:PASSWORD@HOST:PORT or smtps://…, special characters percent-encoded'
  }
  if (!/^\/?$/.test(parsed.pathname) || parsed.search !== '' || parsed.hash !== '') {
    return 'has something after the host and port'
  }
  return hasBadEscape(parsed) ? 'has a % that is no percent-encoding' : null
}

function hasBadEscape({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username)
    decodeURIComponent(password)
    return false
  } catch {
    return true
  }
}

/** `url` is one that `mailUrlProblem` finds nothing wrong with. Connects for each mail. */
export function createMailServer({ url, tls, from, subject }: MailServerOptions): MailServer {
  const { protocol, hostname, port, username, password } = new URL(url)
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (PORTS[protocol] ?? 0) : Number(port),
    secure: protocol === 'smtps:',
    requireTLS: tls === 'required',
    ignoreTLS: tls === 'off',
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SEND_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
  })
  const domain = /@([^\s<>@]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'

  return {
    async send({ to, text, html, id }, stop) {
      const message = {
        from,
        to: { name: '', address: to },
        subject,
        text,
        html,
        messageId: `<${id}@${domain}>`,
        // RFC 3834: no answer by a machine is wanted.
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
      }
      try {
        const timeout = AbortSignal.timeout(SEND_TIMEOUT_MS)
        await transport.sendMail({ ...message, signal: stop ? AbortSignal.any([timeout, stop]) : timeout })
      } catch (error) {
        throw toMailError(error, stop?.aborted ?? false)
      }
    },
  }
}

/** By nodemailer's codes: what the server itself wrote may hold the address. */
const REASONS: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server does not accept the user and password',
  ETLS: 'the mail server offers no TLS that can be used (the option mail-tls can do without)',
  ECONNECTION: 'the mail server cannot be reached',
  ESOCKET: 'the connection to the mail server failed',
  EDNS: 'the name of the mail server is not known',
  ETIMEDOUT: 'the mail server did not answer in time',
  EENVELOPE: 'the mail server does not accept the sender or the recipient',
  EMESSAGE: 'the mail server does not accept the mail',
  EABORT: 'the mail server did not answer in time',
}

function toMailError(error: unknown, isStopping: boolean): MailError {
  const status: unknown = Reflect.get(Object(error), 'responseCode')
  const code: unknown = Reflect.get(Object(error), 'code')
  if (isStopping && code === 'EABORT')
    return new MailError('the gateway ended before the mail server had answered', false)
  const reason = REASONS[String(code)] ?? 'the mail could not be sent'
  const isRefused = typeof status === 'number' && status >= 500
  const told = typeof status === 'number' ? ` (it said ${status})` : ''
  // Wrong credentials and a sender it does not like are ours to mend, and may be mended in time.
  const isOurs = code === 'EAUTH' || Reflect.get(Object(error), 'command') === 'MAIL FROM'
  const isPermanent = isRefused && !isOurs
  return new MailError(`${reason}${told}`, isPermanent)
}
