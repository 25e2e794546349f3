// What is documented of each identity proxy's assertions: which header, whose signature, which claims.

/** `required`: only a true `email_verified` will do. `ifPresent`: a false one is refused. */
export type EmailVerified = 'required' | 'ifPresent'

export interface Preset {
  /** Lower case. The value of `authorization` has the scheme Bearer. */
  readonly header: string
  /** The one issuer there is; null when the operator names theirs, `any` when tokens need not be of one. */
  readonly issuer: string | null | 'any'
  /** Where the keys are, from what the operator named; null for the issuer's discovery document. */
  readonly keys: ((named: { readonly issuer: string; readonly audience: string }) => string) | null
  readonly algorithms: readonly string[]
  /** Where the audience stands: the claim `aud`, or the `signer` of the protected header. */
  readonly audienceIn: 'aud' | 'signer'
  readonly emailVerified: EmailVerified
  /** Of the token, by its `iat`; 0 for as long as it is valid: proxies send the same one with every request. */
  readonly maxAgeSeconds: number
}

const AS_LONG_AS_VALID = 0

export const PRESETS = {
  // OpenID Connect Core 1.0 section 2: an ID token that the front end got for itself, a moment ago.
  oidc: {
    header: 'authorization',
    issuer: null,
    keys: null,
    algorithms: ['RS256', 'ES256', 'EdDSA', 'PS256'],
    audienceIn: 'aud',
    emailVerified: 'required',
    maxAgeSeconds: 300,
  },
  // Their tokens have no email_verified.
  'cloudflare-access': {
    header: 'cf-access-jwt-assertion',
    issuer: null,
    keys: ({ issuer }) => `${issuer.replace(/\/$/, '')}/cdn-cgi/access/certs`,
    algorithms: ['RS256'],
    audienceIn: 'aud',
    emailVerified: 'ifPresent',
    maxAgeSeconds: AS_LONG_AS_VALID,
  },
  // The issuer is the host of the route, with or without a scheme by Pomerium's jwt_issuer_format.
  pomerium: {
    header: 'x-pomerium-jwt-assertion',
    issuer: null,
    keys: ({ issuer }) => `https://${hostOf(issuer)}/.well-known/pomerium/jwks.json`,
    algorithms: ['ES256'],
    audienceIn: 'aud',
    emailVerified: 'ifPresent',
    maxAgeSeconds: AS_LONG_AS_VALID,
  },
  'google-iap': {
    header: 'x-goog-iap-jwt-assertion',
    issuer: 'https://cloud.google.com/iap',
    keys: () => 'https://www.gstatic.com/iap/verify/public_key-jwk',
    algorithms: ['ES256'],
    audienceIn: 'aud',
    emailVerified: 'ifPresent',
    maxAgeSeconds: AS_LONG_AS_VALID,
  },
  // The audience is the ARN of the load balancer, which is the signer; the issuer is the provider behind it.
  'aws-alb': {
    header: 'x-amzn-oidc-data',
    issuer: 'any',
    keys: ({ audience }) => `https://public-keys.auth.elb.${regionOf(audience)}.amazonaws.com/{kid}`,
    algorithms: ['ES256'],
    audienceIn: 'signer',
    emailVerified: 'required',
    maxAgeSeconds: AS_LONG_AS_VALID,
  },
} as const satisfies Readonly<Record<string, Preset>>

export type PresetName = keyof typeof PRESETS

export const PRESET_NAMES = Object.keys(PRESETS) as PresetName[]

function hostOf(issuer: string): string {
  return URL.parse(issuer)?.host || issuer
}

/** `arn:aws:elasticloadbalancing:REGION:ACCOUNT:loadbalancer/…` */
function regionOf(arn: string): string {
  return arn.split(':')[3] ?? ''
}
