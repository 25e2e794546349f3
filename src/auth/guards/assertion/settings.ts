// Merges the operator's options about assertions with a preset, and reports what is missing or wrong.
import { isSafeUrl } from './keys/fetch-text.ts'
import type { KeysAt } from './keys/open-key-source.ts'
import { type EmailVerified, PRESETS, type Preset, type PresetName } from './presets.ts'

/** Each member overrides that of the preset. */
export interface AssertionOptions {
  readonly preset: PresetName
  readonly header?: string | undefined
  readonly issuer?: string | undefined
  /** Accepted audiences: a token must have one of them. */
  readonly audience: readonly string[]
  /** An `https://…` URL, which may contain `{kid}`, or a file path. */
  readonly keys?: string | undefined
  readonly algorithms?: readonly string[] | undefined
  readonly emailClaim: string
  readonly emailVerified?: EmailVerified | undefined
  readonly maxAgeSeconds?: number | undefined
  readonly leewaySeconds: number
}

export interface AssertionSettings {
  readonly header: string
  /** Null accepts any issuer. */
  readonly issuer: string | null
  readonly audience: readonly string[]
  readonly audienceIn: Preset['audienceIn']
  readonly keysAt: KeysAt
  readonly algorithms: readonly string[]
  readonly emailClaim: string
  readonly emailVerified: EmailVerified
  readonly maxAgeSeconds: number
  readonly leewaySeconds: number
}

const ARN = /^arn:aws[a-z-]*:elasticloadbalancing:[a-z0-9-]+:\d+:loadbalancer\/\S+$/

/** The problems with the options, each with the option that fixes it; empty if there are none. */
export function assertionProblems(options: AssertionOptions): readonly string[] {
  const preset: Preset = PRESETS[options.preset]
  const { audience, issuer = preset.issuer, keys } = options
  const isArnMissing = preset.audienceIn === 'signer' && !audience.every((one) => ARN.test(one))
  return [
    ...(audience.length > 0
      ? []
      : [
          `${guard(options)} needs the option assertion-audience: without it, tokens for other applications would be accepted`,
        ]),
    ...(issuer === null ? [`${guard(options)} needs the option assertion-issuer`] : []),
    ...(isArnMissing
      ? [`${guard(options)}: assertion-audience is the ARN of the load balancer, arn:aws:elasticloadbalancing:…`]
      : []),
    ...(preset.audienceIn === 'signer' && !isArnMissing && keys === undefined ? keyHostProblems(options) : []),
    ...(keys !== undefined || (issuer !== null && !isArnMissing) ? keyUrlProblems(options, issuer ?? '') : []),
  ]
}

/** What keeps the gateway from fetching the keys. Otherwise the first sign-in would find it. */
function keyUrlProblems(options: AssertionOptions, issuer: string): readonly string[] {
  const at = keysAt(options, PRESETS[options.preset], issuer, [])
  if (at.type === 'file' || isSafeUrl(at.type === 'discovery' ? issuer : at.url.replace('{kid}', 'kid'))) return []
  if (options.keys !== undefined) return ['assertion-keys must be an https:// address without a password, or a file']
  return [
    at.type === 'discovery'
      ? 'assertion-issuer must be an https:// address with a discovery document that names the keys; otherwise give assertion-keys'
      : `${guard(options)}: with this assertion-issuer, the keys are not at an https:// address: correct it, or give assertion-keys`,
  ]
}

/** What keeps the preset from one address for the keys of all load balancers. */
function keyHostProblems(options: AssertionOptions): readonly string[] {
  const parts = options.audience.map((arn) => arn.split(':'))
  const regions = new Set(parts.map(([, , , region]) => region))
  return [
    ...(regions.size > 1
      ? [
          `${guard(options)}: the load balancers of assertion-audience are in several regions, each with its own keys: name those of one region, or give assertion-keys`,
        ]
      : []),
    ...(parts.every(([, partition]) => partition === 'aws')
      ? []
      : [
          `${guard(options)} needs the option assertion-keys: the address of the keys is known only for ARNs that begin with arn:aws:`,
        ]),
  ]
}

function guard({ preset }: AssertionOptions): string {
  return `login guard "assertion" (${preset})`
}

/** The settings for options without problems. */
export function assertionSettings(options: AssertionOptions): AssertionSettings {
  const preset: Preset = PRESETS[options.preset]
  const issuer = options.issuer ?? preset.issuer ?? ''
  const algorithms = options.algorithms ?? preset.algorithms
  return {
    header: (options.header ?? preset.header).toLowerCase(),
    issuer: issuer === 'any' ? null : issuer,
    audience: options.audience,
    audienceIn: preset.audienceIn,
    keysAt: keysAt(options, preset, issuer, algorithms),
    algorithms,
    emailClaim: options.emailClaim,
    emailVerified: options.emailVerified ?? preset.emailVerified,
    maxAgeSeconds: options.maxAgeSeconds ?? preset.maxAgeSeconds,
    leewaySeconds: options.leewaySeconds,
  }
}

function keysAt(
  { keys, audience }: AssertionOptions,
  preset: Preset,
  issuer: string,
  [algorithm = '']: readonly string[],
): KeysAt {
  if (keys !== undefined && !isUrl(keys)) return { type: 'file', path: keys, algorithm }
  const url = keys ?? preset.keys?.({ issuer, audience: audience[0] ?? '' })
  return url === undefined ? { type: 'discovery', issuer } : { type: 'url', url }
}

function isUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text)
}
