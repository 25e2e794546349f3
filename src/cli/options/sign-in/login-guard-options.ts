// The option of serve that says who may sign in: the names of the login guards and the default.
import { z } from 'zod'
import { LOGIN_GUARD_NAMES, LOGIN_GUARDS } from '../../../auth/guards/guards.ts'
import { list, type OptionRow } from '../option.ts'

export const loginGuardOptions = {
  loginGuard: {
    flags: '--login-guard <names>',
    description: `who may sign in: ${LOGIN_GUARD_NAMES.map((name) => `${name} (${LOGIN_GUARDS[name].summary})`).join(', ')}; several are separated by commas, and asked in order`,
    default: 'local',
    schema: list.pipe(
      z.array(z.enum(LOGIN_GUARD_NAMES, `must be one of ${LOGIN_GUARD_NAMES.join(', ')}`)).min(1, 'must name a guard'),
    ),
  },
} as const satisfies Record<string, OptionRow>
