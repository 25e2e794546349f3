// The options of the login guard `mail` for a test whose mails go to its own server.
import type { MailGuardOptions } from '../../src/auth/guards/mail/open-mail-guard.ts'
import type { TestMailServer } from './smtp.ts'

export function mailGuardOptions(
  { url }: Pick<TestMailServer, 'url'>,
  rules: Partial<MailGuardOptions> = {},
): MailGuardOptions {
  return {
    server: { url, tls: 'off', from: 'Workspace <no-reply@example.com>', subject: 'Your code' },
    domains: [],
    isForKnownUsersOnly: false,
    maxPerAddress: 10,
    maxPerNetwork: 100,
    maxTotal: 1_000,
    ...rules,
  }
}
