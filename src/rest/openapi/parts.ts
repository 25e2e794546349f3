// The parts of the OpenAPI document that all operations share.
import { FAILURE_CODES, messageOf, statusOf } from '../../errors.ts'
import { adviceOn } from './failure-advice.ts'

export type Json = Readonly<Record<string, unknown>>

export const INTRODUCTION = [
  'Token-based sign-in, and read access to the projects, exports, custom templates and custom UI libraries of the',
  'signed-in user. Every operation names its GraphQL twin in `x-graphql-operation`. Documents are answered exactly as',
  'they were stored. Every failure is a problem document (RFC 9457) with a stable `code`.',
].join(' ')

export const HEADERS: Json = {
  'API-Version': { description: 'The version of this contract.', schema: { type: 'string' } },
  ETag: { description: 'Changes with the body; send it back as `If-None-Match`.', schema: { type: 'string' } },
  'Last-Modified': {
    description: 'When the export was made, unless that is in the future.',
    schema: { type: 'string' },
  },
  'WWW-Authenticate': { description: 'How to sign in (RFC 6750).', schema: { type: 'string' } },
  'Retry-After': { description: 'The number of seconds to wait.', schema: { type: 'string' } },
  RateLimit: { description: 'The limits that were reached, and the seconds to wait.', schema: { type: 'string' } },
  'RateLimit-Policy': {
    description: 'How many attempts these limits allow, and in how many seconds.',
    schema: { type: 'string' },
  },
  'X-Request-Id': {
    description: 'Identifies the request in the log, like `requestId` of the problem document.',
    schema: { type: 'string' },
  },
}

const PROBLEM_EXAMPLE_INSTANCE = 'urn:uuid:5e1c2d5e-0d0b-4f2e-9a52-6b0f3a7c9d10'
const PROBLEM_EXAMPLE_REQUEST_ID = '0b4c1f9a6d2e4877a3c5e8f1d0927b64'

export const FAILURE_CODE: Json = {
  type: 'string',
  description: 'Distinguishes failures with the same status. A code never changes its meaning. New codes may be added.',
  enum: FAILURE_CODES,
  'x-failures': FAILURE_CODES.map((code) => ({
    code,
    status: statusOf(code),
    message: messageOf(code),
    advice: adviceOn(code),
  })),
}

export const PROBLEM: Json = {
  type: 'object',
  description: 'A problem document (RFC 9457).',
  required: ['type', 'title', 'status', 'code', 'detail', 'requestId'],
  properties: {
    type: { const: 'about:blank' },
    title: { type: 'string', description: 'The reason phrase of the status.' },
    status: { type: 'integer', description: 'The status of the response.' },
    code: {
      type: 'string',
      description: 'Distinguishes failures with the same status. It never changes.',
      $ref: '#/components/schemas/FailureCode',
    },
    detail: { type: 'string', description: 'What happened, for people.' },
    instance: {
      type: 'string',
      format: 'uri',
      description: 'Identifies the incident in the log. Only failures of the gateway itself have it.',
    },
    requestId: { type: 'string', description: 'Identifies the request in the log, like `X-Request-Id`.' },
  },
  examples: [
    {
      type: 'about:blank',
      title: 'Internal Server Error',
      status: 500,
      code: 'INTERNAL',
      detail: messageOf('INTERNAL'),
      instance: PROBLEM_EXAMPLE_INSTANCE,
      requestId: PROBLEM_EXAMPLE_REQUEST_ID,
    },
  ],
}

export const IF_MATCH: Json = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'ETags of earlier answers. The answer is 412 if none of them is the current one.',
  schema: { type: 'string' },
}

export const IF_NONE_MATCH: Json = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The ETag of an earlier answer.',
  schema: { type: 'string' },
}
