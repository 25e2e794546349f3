// The options about retiring REST routes: deprecation, sunset, links, and brownouts, which refuse a route for a while.
import { z } from 'zod'
import { type Config, duration, inGroup, list, time } from '../option.ts'

/** Parses `PATH=VALUE` entries separated by commas. `*` means every route of the contract. */
function perRoute<T>(value: z.ZodType<T, string>) {
  return list.pipe(
    z.array(
      z.string().transform((text, context): { readonly path: string; readonly value: T } => {
        const [, path = '', rest = ''] = /^(\*|\/[^=]*)=(.+)$/.exec(text) ?? []
        const checked = path === '' ? null : value.safeParse(rest)
        if (checked?.success) return { path, value: checked.data }
        const reason = checked?.error.issues[0]?.message ?? 'write it as PATH=VALUE, such as /projects=2027-01-31'
        context.addIssue(`"${text}": ${reason}`)
        return z.NEVER
      }),
    ),
  )
}

/** Like `perRoute`, but refuses a second value for a path, which would silently override the first. */
function oncePerRoute<T>(value: z.ZodType<T, string>) {
  return perRoute(value).superRefine((entries, context) => {
    const named = new Set<string>()
    for (const { path } of entries) {
      if (named.has(path)) context.addIssue(`${path} is named twice`)
      named.add(path)
    }
  })
}

/**
 * A URL for the header `Link` (RFC 8288 section 3). Other characters must be percent-encoded, or punycode in the host.
 */
const link = z.string().regex(/^https?:\/\/[!#-;=?-~]+$/, 'must be an address in ASCII, such as https://…')

/** Maximum length of a brownout. */
const MAX_BROWNOUT_MS = 86_400_000

/** Parses `START/LENGTH`, such as `2027-05-01T09:00:00Z/15m`, to milliseconds since the epoch. */
const brownout = z.string().transform((text, context) => {
  const [start = '', length = ''] = text.split('/')
  const from = time.safeParse(start)
  const { data: lengthMs = 0 } = duration.safeParse(length)
  const hasLength = lengthMs > 0 && lengthMs <= MAX_BROWNOUT_MS
  if (from.success && hasLength) return { from: from.data, until: from.data + lengthMs }
  const startProblem = hasLength ? from.error?.issues[0]?.message : undefined
  context.addIssue(startProblem ?? 'must be a start and a length of at most 24 hours, such as 2027-05-01T09:00:00Z/15m')
  return z.NEVER
})

export const retirementOptions = inGroup('Retiring REST', {
  deprecated: {
    flags: '--deprecated <routes>',
    description:
      'REST routes and when their deprecation begins, separated by commas: /projects=2027-01-31, or *=2027-01-31 for all; answers announce it',
    default: '',
    schema: oncePerRoute(time),
  },
  sunset: {
    flags: '--sunset <routes>',
    description:
      'REST routes and when they end, in the format of --deprecated; answers announce the end before it, and are 410 after it',
    default: '',
    schema: oncePerRoute(time),
  },
  deprecationLink: {
    flags: '--deprecation-link <routes>',
    description: 'pages that explain the deprecation, for the Link header of answers: *=https://example.com/rest-goes',
    default: '',
    schema: oncePerRoute(link),
  },
  brownout: {
    flags: '--brownout <windows>',
    description:
      'periods in which REST routes answer 503, so that remaining callers notice: /exports=2027-05-01T09:00:00Z/15m',
    default: '',
    schema: perRoute(brownout),
  },
})

export type RetirementConfig = Config<typeof retirementOptions>
