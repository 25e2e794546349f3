// The options of `serve` for rate limits: how often one network may try to sign in.
import { inGroup, integer, oneOf } from '../option.ts'

/**
 * Applies only when other machines can reach the gateway: it slows down attackers, but not a developer's local tests.
 */
export const DEFAULT_ATTEMPTS_PER_MINUTE = 600

export const rateLimitOptions = inGroup('Rate limits', {
  rateLimits: {
    flags: '--rate-limits <on|off>',
    description:
      'off turns off all rate limits of networks, for measurements; those of registered clients and of mails stay',
    default: 'on',
    schema: oneOf('on', 'off'),
  },
  attemptsPerMinute: {
    flags: '--attempts-per-minute <count>',
    description: `maximum logins per minute from one network, and as many refreshes; 0 for no limit (default: 0 on loopback without --trusted-proxy, otherwise ${DEFAULT_ATTEMPTS_PER_MINUTE})`,
    schema: integer(0, 1_000_000_000).optional(),
  },
})
