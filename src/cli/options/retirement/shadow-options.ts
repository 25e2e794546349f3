// The options of `serve` for shadowing: the old server, which side answers, and how much is compared.
import { z } from 'zod'
import { headers } from '../move-in/remote-options.ts'
import { booleanOption, type Config, inGroup, integer, oneOf, wait } from '../option.ts'

const MAX_CONCURRENCY = 64

export const shadowOptions = inGroup('Shadowing the old server', {
  shadow: {
    flags: '--shadow <url>',
    description:
      'the old server of the contract: the gateway compares reads with its answers in the background, and logs differences',
    schema: z.url('must be an address, such as https://…').optional(),
  },
  shadowHeaders: {
    ...headers,
    flags: '--shadow-headers <path>',
    description:
      'a file of headers for the --shadow server, one `Name: value` per line, such as a key that it or its proxy requires',
  },
  answerFrom: {
    flags: '--answer-from <who>',
    description:
      'who answers REST reads: ours (this gateway) or old (the --shadow server); the other one is compared; sign-in and GraphQL are always ours',
    default: 'ours',
    schema: oneOf('ours', 'old'),
  },
  shadowSample: {
    flags: '--shadow-sample <part>',
    description: 'the fraction of reads that are compared, from 0 to 1',
    default: '1',
    schema: z
      .string()
      .regex(/^(?:0|1|0?\.\d{1,9}|1\.0{1,9})$/, 'must be from 0 to 1, such as 0.05')
      .transform(Number),
  },
  shadowConcurrency: {
    flags: '--shadow-concurrency <count>',
    description: 'maximum concurrent comparisons; each makes one read at both servers',
    default: '4',
    schema: integer(1, MAX_CONCURRENCY),
  },
  shadowBytes: {
    flags: '--shadow-bytes <bytes>',
    description: 'maximum size of the part of an answer that is compared',
    default: String(67_108_864),
    schema: integer(1, 1_099_511_627_776),
  },
  shadowConfirm: {
    flags: '--shadow-confirm <time>',
    description:
      'report a difference only if it still exists after this time, because a change may be on its way; 0 reports at once',
    default: '10s',
    schema: wait,
  },
  shadowInsecure: {
    flags: '--shadow-insecure',
    description: 'allow --shadow without TLS to another machine; others on the network can read tokens and workspaces',
    schema: booleanOption.optional(),
  },
})

export type ShadowConfig = Config<typeof shadowOptions>
