// Presets for identity proxies, from their documentation: the header, issuer, keys and claims of their assertions.

/** `required`: the claim `email_verified` must be true. `ifPresent`: it may be absent, but not false. */
export type EmailVerified = 'required' | 'ifPresent'

export interface Preset {
  /** Header name in lower case. The value of `authorization` has the scheme Bearer. */
  readonly header: string
  /** The fixed issuer of this proxy; null if the operator must name one; `any` if the issuer is not checked. */
  readonly issuer: string | null | 'any'
  /** The URL of the keys, from the operator's issuer and audience; null to use the issuer's discovery document. */
  readonly keys: ((named: { readonly issuer: string; readonly audience: string }) => string) | null
  readonly algorithms: readonly string[]
  /** Location of the audience: the claim `aud`, or `signer` in the protected header. */
  readonly audienceIn: 'aud' | 'signer'
  readonly emailVerified: EmailVerified
  /**
   * Maximum age of a token by its `iat`. 0 accepts it as long as it is valid: proxies send the same one with every
   * request.
   */
  readonly maxAgeSeconds: number
}

const AS_LONG_AS_VALID = 0

export const PRESETS = {
  // OpenID Connect Core 1.0 section 2: an ID token that the front end itself got a moment ago. Ed25519 is the new name of
  // EdDSA with such a key (RFC 9864 section 2.2).
  oidc: {
    header: 'authorization',
    issuer: null,
    keys: null,
    algorithms: ['RS256', 'ES256', 'EdDSA', 'Ed25519', 'PS256'],
    audienceIn: 'aud',
    emailVerified: 'required',
    maxAgeSeconds: 300,
  },
  // Cloudflare Access tokens have no email_verified.
  'cloudflare-access': {
    header: 'cf-access-jwt-assertion',
    issuer: null,
    keys: ({ issuer }) => `${issuer.replace(/\/$/, '')}/cdn-cgi/access/certs`,
    algorithms: ['RS256'],
    audienceIn: 'aud',
    emailVerified: 'ifPresent',
    maxAgeSeconds: AS_LONG_AS_VALID,
  },
  // The issuer is the host of the route, with or without a scheme, depending on Pomerium's jwt_issuer_format.
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
  // The audience is the ARN of the load balancer, which is the `signer`. The issuer is the identity provider behind it.
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
