// The options of `serve` for sessions: lifetime, maximum number per user, and how often they are looked up.
import { z } from 'zod'
import { inGroup, integer } from '../option.ts'

const YEAR_SECONDS = 31_536_000

export const sessionOptions = inGroup('Sessions, tokens and keys', {
  refreshIdleTtl: {
    flags: '--refresh-idle-ttl <seconds>',
    description: 'a session ends if it is not refreshed for this long',
    default: String(14 * 86_400),
    schema: integer(1, 10 * YEAR_SECONDS),
  },
  refreshAbsoluteTtl: {
    flags: '--refresh-absolute-ttl <seconds>',
    description: 'a session ends this long after its login',
    default: String(90 * 86_400),
    schema: integer(1, 10 * YEAR_SECONDS),
  },
  sessionCheck: {
    flags: '--session-check <how>',
    description:
      'exact: every request looks up its session; bounded=MS: a request may use a session that this process looked up at most MS milliseconds ago',
    default: 'exact',
    schema: z
      .string()
      .regex(/^(?:exact|bounded=\d{1,6})$/, 'must be exact, or bounded=MS with 10 to 600000 milliseconds')
      .transform((text) => (text === 'exact' ? null : Number(text.slice('bounded='.length))))
      .refine(
        (milliseconds) => milliseconds === null || (milliseconds >= 10 && milliseconds <= 600_000),
        'must be exact, or bounded=MS with 10 to 600000 milliseconds',
      ),
  },
  sessionsPerUser: {
    flags: '--sessions-per-user <count>',
    description: 'maximum open sessions of one user; one more ends the least recently used session',
    default: '100',
    schema: integer(1, 100_000),
  },
})
