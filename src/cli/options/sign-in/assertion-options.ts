// The options of the login guard `assertion`: a preset, and every field of it.
import { z } from 'zod'
import type { AssertionGuardOptions } from '../../../auth/guards/assertion/open-assertion-guard.ts'
import { PRESET_NAMES } from '../../../auth/guards/assertion/presets.ts'
import { type Config, inGroup, integer, list, nonEmpty, oneOf } from '../option.ts'

/**
 * Only asymmetric algorithms (RFC 7518 section 3.1, RFC 8037, RFC 9864): with a shared key, the verifier could sign too.
 */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const

const headerName = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be the name of a header')

export const ASSERTION_OPTIONS = inGroup('Login guard assertion', {
  assertionPreset: {
    flags: '--assertion-preset <name>',
    description: `guard assertion: the proxy or provider that signs assertions: ${PRESET_NAMES.join(', ')}`,
    schema: z.enum(PRESET_NAMES, `must be one of ${PRESET_NAMES.join(', ')}`).optional(),
  },
  assertionIssuer: {
    flags: '--assertion-issuer <issuer>',
    description:
      'guard assertion: the issuer (iss) of assertions; for oidc, the address whose discovery document names the keys',
    schema: nonEmpty.optional(),
  },
  assertionAudience: {
    flags: '--assertion-audience <names>',
    description: 'guard assertion: accepted audiences, separated by commas (aws-alb: the ARN of the load balancer)',
    default: '',
    schema: list,
  },
  assertionHeader: {
    flags: '--assertion-header <name>',
    description: 'guard assertion: the header that contains the assertion, if it is not that of the preset',
    schema: headerName.optional(),
  },
  assertionKeys: {
    flags: '--assertion-keys <where>',
    description:
      'guard assertion: where the keys are: a JWK set at https://… or in a file, or a PEM per key at https://…/{kid} or in a file',
    schema: nonEmpty.optional(),
  },
  assertionAlgorithms: {
    flags: '--assertion-algorithms <names>',
    description: 'guard assertion: accepted signature algorithms, separated by commas',
    schema: list
      .pipe(z.array(z.enum(ALGORITHMS, `must be of ${ALGORITHMS.join(', ')}`)).min(1, 'must name an algorithm'))
      .optional(),
  },
  assertionEmailClaim: {
    flags: '--assertion-email-claim <name>',
    description: 'guard assertion: the claim that contains the email',
    default: 'email',
    schema: nonEmpty,
  },
  assertionEmailVerified: {
    flags: '--assertion-email-verified <rule>',
    description: 'guard assertion: required: email_verified must be true; if-present: it may be missing, but not false',
    schema: oneOf('required', 'if-present').optional(),
  },
  assertionMaxAge: {
    flags: '--assertion-max-age <seconds>',
    description: 'guard assertion: maximum age of an assertion by its iat; 0 accepts it as long as it is valid',
    schema: integer(0, 86_400).optional(),
  },
  assertionLeeway: {
    flags: '--assertion-leeway <seconds>',
    description: 'guard assertion: how far the clocks of the issuer and the gateway may differ',
    default: '30',
    schema: integer(0, 300),
  },
  assertionHeaderUnsigned: {
    flags: '--assertion-header-unsigned <name>',
    description:
      'guard assertion: trust the email in this unsigned header, only from a --trusted-proxy and with the secret',
    schema: headerName.optional(),
  },
  assertionSecretHeader: {
    flags: '--assertion-secret-header <name>',
    description: 'guard assertion, unsigned: the header in which the proxy sends the secret',
    schema: headerName.optional(),
  },
  assertionSecret: {
    flags: '--assertion-secret <secret>',
    description: 'guard assertion, unsigned: the secret, at least 32 characters; better set in the environment',
    isSecret: true,
    schema: z.string().optional(),
  },
})

type AssertionConfig = Config<typeof ASSERTION_OPTIONS> & { readonly trustedProxy: readonly string[] }

export function toAssertionGuardOptions(config: AssertionConfig): AssertionGuardOptions {
  const { assertionPreset: preset, assertionHeaderUnsigned: header, assertionEmailVerified } = config
  const emailVerified = assertionEmailVerified === 'if-present' ? 'ifPresent' : assertionEmailVerified
  return {
    signed:
      preset === undefined
        ? null
        : {
            preset,
            header: config.assertionHeader,
            issuer: config.assertionIssuer,
            audience: config.assertionAudience,
            keys: config.assertionKeys,
            algorithms: config.assertionAlgorithms,
            emailClaim: config.assertionEmailClaim,
            emailVerified,
            maxAgeSeconds: config.assertionMaxAge,
            leewaySeconds: config.assertionLeeway,
          },
    unsigned:
      header === undefined
        ? null
        : {
            header: header.toLowerCase(),
            secretHeader: config.assertionSecretHeader?.toLowerCase() ?? '',
            secret: config.assertionSecret ?? '',
            hasTrustedProxies: config.trustedProxy.length > 0,
          },
  }
}
