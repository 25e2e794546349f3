// The options of `conformance`: the user to sign in as, headers, the member names, and the format of the report.
import { z } from 'zod'
import { canonicalEmail } from '../../../auth/email.ts'
import { IMPORT_OPTIONS } from '../import-options.ts'
import { booleanOption, type Config, type OptionRow, oneOf } from '../option.ts'
import { headers } from './remote-options.ts'

export const CONFORMANCE_OPTIONS = {
  email: {
    flags: '--email <email>',
    description:
      'the user of the other server to sign in as; a user who has a project with an export allows the most checks',
    isSelection: true,
    // Not made canonical: another server may know the user only by this spelling.
    schema: z.string('must be given').refine((email) => canonicalEmail(email) !== null, 'must be an email address'),
  },
  headers,
  idFields: IMPORT_OPTIONS.idFields,
  refFields: IMPORT_OPTIONS.refFields,
  strict: {
    flags: '--strict',
    description: 'also fail for differences from this gateway where the contract is silent',
    schema: booleanOption.optional(),
  },
  format: {
    flags: '--format <table|json|junit>',
    description: 'how the checks are reported',
    default: 'table',
    schema: oneOf('table', 'json', 'junit'),
  },
} as const satisfies Record<string, OptionRow>

export type ConformanceConfig = Config<typeof CONFORMANCE_OPTIONS>
