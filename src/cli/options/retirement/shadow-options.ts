// The options of `serve` for shadowing: the old server, which side answers, and how much is compared.
import { z } from 'zod'
import { headers } from '../move-in/remote-options.ts'
import { booleanOption, type Config, integer, type OptionRow, wait } from '../option.ts'

const MAX_CONCURRENCY = 64

export const shadowOptions = {
  shadow: {
    flags: '--shadow <url>',
    description:
      'the old server of the contract: reads are compared with its answers in the background, and differences are in the log',
    schema: z.url('must be an address, as https://…').optional(),
  },
  shadowHeaders: {
    ...headers,
    flags: '--shadow-headers <path>',
    description:
      'a file of headers for the server of --shadow, `Name: value` in each line: a key that it or its proxy asks for',
  },
  answerFrom: {
    flags: '--answer-from <who>',
    description:
      'who answers reads: ours, compared with the server of --shadow, or old for that one, compared with ours; sign-ins and GraphQL are always ours',
    default: 'ours',
    schema: z.enum(['ours', 'old'], 'must be ours or old'),
  },
  shadowSample: {
    flags: '--shadow-sample <part>',
    description: 'the part of reads that is compared, from 0 to 1',
    default: '1',
    schema: z
      .string()
      .regex(/^(?:0|1|0?\.\d{1,9}|1\.0{1,9})$/, 'must be from 0 to 1, such as 0.05')
      .transform(Number),
  },
  shadowConcurrency: {
    flags: '--shadow-concurrency <count>',
    description: 'comparisons at the same time; each makes one read at either server',
    default: '4',
    schema: integer(1, MAX_CONCURRENCY),
  },
  shadowBytes: {
    flags: '--shadow-bytes <bytes>',
    description: 'how much of an answer is compared',
    default: String(67_108_864),
    schema: integer(1, 1_099_511_627_776),
  },
  shadowConfirm: {
    flags: '--shadow-confirm <time>',
    description:
      'a difference is reported if it is still there so much later, since a change may be on its way; 0 for at once',
    default: '10s',
    schema: wait,
  },
  shadowInsecure: {
    flags: '--shadow-insecure',
    description: 'allow --shadow without TLS to another machine: tokens and workspaces can be read on the way',
    schema: booleanOption.optional(),
  },
} as const satisfies Record<string, OptionRow>

export type ShadowConfig = Config<typeof shadowOptions>
