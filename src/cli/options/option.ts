// Defines an option as a row of a command's table: its flag, environment variable, default and schema.
import { z } from 'zod'
import { canonicalEmail } from '../../auth/email.ts'
import { UsageError } from '../../errors.ts'

/** Prefix of every environment variable. */
export const ENVIRONMENT_PREFIX = 'WORKSPACE_GATEWAY_'

/** The headings of options in `--help` and in docs/guide/configuration.md. */
export type OptionGroup =
  | 'Audit log'
  | 'Database'
  | 'GraphQL'
  | 'Ids and references'
  | 'Import from another server'
  | 'Import over HTTP'
  | 'Login guard assertion'
  | 'Login guard mail'
  | 'Memory and overload'
  | 'Metrics, logs and traces'
  | 'Proxies and origins'
  | 'Rate limits'
  | 'Retiring REST'
  | 'Sessions, tokens and keys'
  | 'Shadowing the old server'
  | 'Workers and shutdown'

export interface OptionRow {
  /** The flag in the syntax of commander: `--name <value>`, or `--name` for a switch. */
  readonly flags: string
  readonly description: string
  readonly schema: z.ZodType
  /** A secret that is refused on the command line, because every user of the machine can read command lines. */
  readonly isEnvironmentOnly?: boolean
  /** The whole value is a secret and is never shown. (The password in a URL is never shown either.) */
  readonly isSecret?: boolean
  /**
   * Whether the flag says what the command is about. If it were given twice, the command would silently leave out the
   * first one, so that is an error. Of other flags with one value the last one counts.
   */
  readonly isSelection?: boolean
  /** The default as it would be written on the command line. A switch has none and is off. */
  readonly default?: string
  /** Without one, the row is before all groups: for the options that a command is mostly used with. */
  readonly group?: OptionGroup
}

/**
 * `--body-limit <bytes>` is `bodyLimit` in code, `WORKSPACE_GATEWAY_BODY_LIMIT` in the environment and `body-limit` in
 * a configuration file.
 */
export function optionName(row: OptionRow): string {
  return longName(row).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

export function environmentName(row: OptionRow): string {
  return ENVIRONMENT_PREFIX + longName(row).toUpperCase().replaceAll('-', '_')
}

export function longName({ flags }: OptionRow): string {
  const end = flags.indexOf(' ')
  return flags.slice('--'.length, end === -1 ? undefined : end)
}

export const nonEmpty = z.string().min(1, 'must not be empty')

export function oneOf<const T extends readonly string[]>(...words: T) {
  return z.enum(words, `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`)
}

/** Shared by all integers: dozens of options have one, and making a schema takes processor time at each start. */
const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number)

export const integer = (minimum: number, maximum: number) =>
  wholeNumber.pipe(z.number().min(minimum, `must be at least ${minimum}`).max(maximum, `must be at most ${maximum}`))

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Parses `90d`, `12h`, `30m`, `10s` or 0 to milliseconds. */
export const duration = z
  .string()
  .regex(/^(?:0|\d{1,9}[smhd])$/, 'must be a number and a unit: 90d, 12h, 30m or 10s')
  .transform((text) =>
    text === '0' ? 0 : Number(text.slice(0, -1)) * UNITS_MS[text.slice(-1) as keyof typeof UNITS_MS],
  )

/** Longest timer of Node in whole days: it treats more than 2^31 - 1 ms as 1 ms. */
const MAX_WAIT_DAYS = 24

/** A `duration` for a timer. */
export const wait = duration.refine(
  (milliseconds) => milliseconds <= MAX_WAIT_DAYS * UNITS_MS.d,
  `must be at most ${MAX_WAIT_DAYS}d`,
)

export const list = z.string().transform((value) => value.split(',').flatMap((item) => item.trim() || []))

/** Whether a schema begins with `list`. */
export function isList(schema: z.core.$ZodType): boolean {
  if (schema instanceof z.ZodOptional) return isList(schema.def.innerType)
  return schema === list || (schema instanceof z.ZodPipe && isList(schema.in))
}

/** Zod transform that makes the domain of an email address canonical. Adds an issue for an invalid domain. */
export function canonicalDomain(domain: string, context: z.RefinementCtx): string {
  const canonical = canonicalEmail(`x@${domain}`)
  if (canonical === null) context.addIssue({ code: 'custom', message: `${domain} is not a domain` })
  return canonical?.slice('x@'.length) ?? ''
}

/** An existing calendar day, kept as text. */
export const day = z.iso.date('must be a day that exists, such as 2026-01-31')

/** Parses a time of RFC 3339, or a day in UTC, to milliseconds since the epoch. */
export const time = z
  .string()
  .regex(
    /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/,
    'must be like 2026-01-31 or 2026-01-31T09:30:00Z',
  )
  // The day is checked separately because `Date.parse` accepts 30 February as 2 March.
  .transform((value) => (day.safeParse(value.slice(0, 'YYYY-MM-DD'.length)).success ? Date.parse(value) : Number.NaN))
  .refine((value) => !Number.isNaN(value), 'must be a day or a time that exists')

export const booleanOption = z.union(
  [z.boolean(), z.enum(['true', 'false', '1', '0', '']).transform((value) => value === 'true' || value === '1')],
  'must be true or 1, or false, 0 or empty',
)

export const databaseUrl = z
  .string('must be given')
  .regex(/^(?:file:.|postgres(?:ql)?:\/\/)/, 'must be file:PATH or postgres://…')

export type Options = Readonly<Record<string, OptionRow>>

/** Puts the rows under one heading, in every command that has them. */
export function inGroup<const T extends Options>(
  group: OptionGroup,
  rows: T,
): { readonly [K in keyof T]: T[K] & { readonly group: OptionGroup } } {
  const entries = Object.entries(rows).map(([name, row]) => [name, { ...row, group }])
  return Object.fromEntries(entries)
}

export type Config<T extends Options> = { readonly [K in keyof T]: z.output<T[K]['schema']> }

/**
 * Checks and converts values from flags, environment and defaults. Values are strings, or true for a switch. Throws one
 * `UsageError` that names every problem.
 */
export function parseOptions<T extends Options>(options: T, values: Readonly<Record<string, unknown>>): Config<T> {
  const { config, problems } = readOptions(options, values)
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return config
}

/**
 * Like `parseOptions`, but does not throw: an invalid value is missing in `config` and has a sentence in `problems`.
 */
export function readOptions<T extends Options>(
  options: T,
  values: Readonly<Record<string, unknown>>,
): { readonly config: Config<T>; readonly problems: readonly string[] } {
  const problems: string[] = []
  const config: Record<string, unknown> = {}
  for (const [name, row] of Object.entries(options)) {
    const checked = row.schema.safeParse(values[name] ?? row.default)
    if (checked.success) config[name] = checked.data
    else
      problems.push(
        ...checked.error.issues.map(({ message }) => `--${longName(row)} (${environmentName(row)}): ${message}`),
      )
  }
  return { config: Object.freeze(config) as Config<T>, problems }
}
