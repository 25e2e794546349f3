// Options of serve for how often one network may try to sign in.
import { z } from 'zod'
import { integer, type OptionRow } from '../option.ts'

/** Off this machine, an attacker's programs are slowed down; on it, a developer's tests are not. */
export const DEFAULT_ATTEMPTS_PER_MINUTE = 600

export const rateLimitOptions = {
  rateLimits: {
    flags: '--rate-limits <on|off>',
    description: 'off: no limits of any kind, for measurements',
    default: 'on',
    schema: z.enum(['on', 'off'], 'must be on or off'),
  },
  attemptsPerMinute: {
    flags: '--attempts-per-minute <count>',
    description: `logins, and refreshes, a minute from one network, 0 for no limit (default: 0 on loopback without --trusted-proxy, else ${DEFAULT_ATTEMPTS_PER_MINUTE})`,
    schema: integer(0, 1_000_000_000).optional(),
  },
} as const satisfies Record<string, OptionRow>
