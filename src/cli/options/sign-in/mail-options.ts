// The options of the login guard `mail`, and of `mail test`.
import { z } from 'zod'
import { canonicalEmail } from '../../../auth/email.ts'
import type { MailGuardOptions } from '../../../auth/guards/mail/open-mail-guard.ts'
import { type MailServerOptions, mailUrlProblem } from '../../../auth/mail/mail-server.ts'
import {
  booleanOption,
  type Config,
  canonicalDomain,
  inGroup,
  integer,
  list,
  type OptionRow,
  oneOf,
} from '../option.ts'

const NAME_AND_ADDRESS = /^(?:[^<>@\r\n]*<(?<bracketed>[^<>\s]+)>|(?<plain>[^<>\s]+))$/
/** The message never contains the URL, because it may contain a password. */
const mailUrl = z.string().superRefine((url, context) => {
  const problem = mailUrlProblem(url)
  if (problem !== null) context.addIssue({ code: 'custom', message: problem })
})

export const MAIL_SERVER_OPTIONS = {
  mailUrl: {
    flags: '--mail-url <url>',
    description:
      'the mail server: smtps://USER:PASSWORD@HOST:PORT, or smtp://… for STARTTLS; better set in the environment',
    schema: mailUrl.optional(),
  },
  mailFrom: {
    flags: '--mail-from <address>',
    description: 'the sender of mails: an address, or a name and an address as NAME <ADDRESS>',
    schema: z.string().refine(isSender, 'must be an address, or NAME <ADDRESS>').optional(),
  },
  mailSubject: {
    flags: '--mail-subject <text>',
    description: 'the subject of mails with a code',
    default: 'Your sign-in code',
    schema: z.string().regex(/^[^\r\n]{1,200}$/, 'must be one line of at most 200 characters'),
  },
  mailTls: {
    flags: '--mail-tls <mode>',
    description: 'required: mails are sent only with TLS; off: without TLS, for a relay on this machine',
    default: 'required',
    schema: oneOf('required', 'off'),
  },
} as const satisfies Record<string, OptionRow>

export const MAIL_OPTIONS = inGroup('Login guard mail', {
  ...MAIL_SERVER_OPTIONS,
  mailDomains: {
    flags: '--mail-domains <domains>',
    description: 'guard mail: domains whose addresses get codes, separated by commas (default: all)',
    // An empty value is refused: a variable that was meant to hold domains would let in those of every domain.
    schema: list
      .pipe(z.array(z.string()).min(1, 'must name a domain, or be left out for all'))
      .transform((domains, context) => domains.map((domain) => canonicalDomain(domain, context)))
      .optional(),
  },
  mailKnownUsersOnly: {
    flags: '--mail-known-users-only',
    description: 'guard mail: only addresses with a stored workspace get codes',
    schema: booleanOption.optional(),
  },
  mailLimitAddress: {
    flags: '--mail-limit-address <count>',
    description:
      'guard mail: maximum mails per hour to one address, requested from networks that it never signed in from',
    default: '10',
    schema: integer(0, 1_000_000),
  },
  mailLimitNetwork: {
    flags: '--mail-limit-network <count>',
    description:
      'guard mail: maximum mails per hour requested from one network, to addresses that never signed in from it',
    default: '100',
    schema: integer(0, 1_000_000),
  },
  mailLimitTotal: {
    flags: '--mail-limit-total <count>',
    description:
      'guard mail: maximum mails per hour in total, to addresses from networks that they never signed in from',
    default: '10000',
    schema: integer(0, 1_000_000_000),
  },
})

export type MailTestConfig = Config<typeof MAIL_SERVER_OPTIONS>

function isSender(text: string): boolean {
  const { bracketed, plain } = NAME_AND_ADDRESS.exec(text)?.groups ?? {}
  return canonicalEmail(bracketed ?? plain ?? '') !== null
}

/** Null unless both the server and the sender are set. */
export function toMailServerOptions(config: MailTestConfig): MailServerOptions | null {
  const { mailUrl: url, mailFrom: from, mailSubject: subject, mailTls: tls } = config
  return url === undefined || from === undefined ? null : { url, from, subject, tls }
}

export function toMailGuardOptions(config: Config<typeof MAIL_OPTIONS>): MailGuardOptions | null {
  const server = toMailServerOptions(config)
  return (
    server && {
      server,
      domains: config.mailDomains ?? [],
      isForKnownUsersOnly: config.mailKnownUsersOnly ?? false,
      maxPerAddress: config.mailLimitAddress,
      maxPerNetwork: config.mailLimitNetwork,
      maxTotal: config.mailLimitTotal,
    }
  )
}
