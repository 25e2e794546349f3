// Sends mails through the configured SMTP server: its URL, the connection to it, and the meaning of its errors.
import { domainToASCII } from 'node:url'
import { memberOf } from '../../member-of.ts'

/** A send that takes longer is aborted, well within the lease of its mail. */
const SEND_TIMEOUT_MS = 40_000
const CONNECT_TIMEOUT_MS = 10_000
const PORTS: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 }

/**
 * `required`: no mail without TLS, either from the start (smtps) or by STARTTLS (RFC 3207). `off`: no TLS, for a local
 * relay.
 */
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
  /** The same for every attempt, so that a mailbox can recognize a second copy (RFC 5322 section 3.6.4). */
  readonly id: string
}

export interface MailServer {
  /** Resolves once the server has accepted the mail. Throws `MailError`, also if `stop` is aborted. */
  readonly send: (mail: Mail, stop?: AbortSignal) => Promise<void>
}

/** A mail could not be sent. The message never contains an address or a password. */
export class MailError extends Error {
  override readonly name = 'MailError'
  /** The server said that it will never take this mail (5yz, RFC 5321 section 4.2.1). */
  readonly isPermanent: boolean

  constructor(message: string, isPermanent: boolean) {
    super(message)
    this.isPermanent = isPermanent
  }
}

/** Describes what is wrong with the URL, without repeating it; null if it is valid. */
export function mailUrlProblem(url: string): string | null {
  const parsed = URL.parse(url)
  if (!parsed || PORTS[parsed.protocol] === undefined || parsed.hostname === '') {
    return 'must be smtp://USER:PASSWORD@HOST:PORT or smtps://…, special characters percent-encoded'
  }
  if (!/^\/?$/.test(parsed.pathname) || parsed.search !== '' || parsed.hash !== '') {
    return 'must not have anything after the host and port'
  }
  return hasBadEscape(parsed) ? 'has a % that is not a valid percent-encoding: write % as %25' : null
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

/** `url` must have passed `mailUrlProblem`. Opens a new connection for each mail. */
export function createMailServer({ url, tls, from, subject }: MailServerOptions): MailServer {
  const { protocol, hostname, port, username, password } = new URL(url)
  const settings = {
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
  }
  // Most gateways send no mail, and need not load the library.
  const opening = import('nodemailer').then(({ createTransport }) => createTransport(settings))
  const sender = readSender(from)
  const domain = domainToASCII(sender.address.slice(sender.address.lastIndexOf('@') + 1))

  return {
    async send({ to, text, html, id }, stop) {
      const message = {
        from: sender,
        to: { name: '', address: to },
        subject,
        text,
        html,
        messageId: `<${id}@${domain}>`,
        // RFC 3834: asks for no automatic reply.
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
      }
      try {
        const timeout = AbortSignal.timeout(SEND_TIMEOUT_MS)
        const transport = await opening
        await transport.sendMail({ ...message, signal: stop ? AbortSignal.any([timeout, stop]) : timeout })
      } catch (error) {
        throw toMailError(error, stop?.aborted ?? false)
      }
    },
  }
}

/** Read here, because nodemailer takes what stands before a colon for the name of a group of addresses. */
function readSender(from: string): { readonly name: string; readonly address: string } {
  const [, name = '', address = from] = /^([^<>]*)<([^<>]+)>$/.exec(from) ?? []
  return { name: name.trim().replace(/^"(.*)"$/, '$1'), address }
}

/** Messages by nodemailer error code. The server's own text is not used, because it may contain the address. */
const REASONS: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server does not accept the user and password',
  ETLS: 'the mail server offers no usable TLS (mail-tls off sends without it)',
  ECONNECTION: 'the mail server closed the connection',
  ESOCKET: 'the connection to the mail server failed',
  EPROTOCOL: 'the mail server does not accept the connection',
  EDNS: 'the host name of the mail server cannot be resolved',
  ETIMEDOUT: 'the mail server did not answer in time',
  EENVELOPE: 'the mail server does not accept the sender or the recipient',
  EMESSAGE: 'the mail server does not accept the mail',
  EABORT: 'the mail server did not answer in time',
}

/**
 * Commands whose refusal is about this mail. Any other refusal is about the gateway (its address, TLS, user or sender),
 * and the operator may fix that in time for a retry.
 */
const COMMANDS_OF_A_MAIL: ReadonlySet<unknown> = new Set(['RCPT TO', 'DATA'])

function toMailError(error: unknown, isStopping: boolean): MailError {
  const status: unknown = memberOf(error, 'responseCode')
  const code: unknown = memberOf(error, 'code')
  if (isStopping && code === 'EABORT')
    return new MailError('the gateway stopped before the mail server answered', false)
  const reason = REASONS[String(code)] ?? 'the mail could not be sent'
  const isRefused = typeof status === 'number' && status >= 500
  const isPermanent = isRefused && COMMANDS_OF_A_MAIL.has(memberOf(error, 'command'))
  return new MailError(`${reason}${detailOf(error)}`, isPermanent)
}

/** The status that the server gave, or the system's error code, such as ECONNREFUSED or CERT_HAS_EXPIRED. */
function detailOf(error: unknown): string {
  const status: unknown = memberOf(error, 'responseCode')
  const systemCode: unknown = memberOf(error, 'originalCode')
  if (typeof status === 'number') return ` (it said ${status})`
  return typeof systemCode === 'string' ? ` (${systemCode})` : ''
}
