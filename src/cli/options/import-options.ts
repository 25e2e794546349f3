// The options of `import`, for all its forms: from a file, from a server, and to a gateway.
import { z } from 'zod'
import { auditOptions } from './audit-options.ts'
import { database, storeOptions } from './database-options.ts'
import { remoteOptions } from './move-in/remote-options.ts'
import { booleanOption, type Config, list, type OptionRow } from './option.ts'

export const IMPORT_OPTIONS = {
  database,
  idFields: {
    flags: '--id-fields <names>',
    description: "a document's id is the first of these members it has as a string that is not empty, or as an integer",
    default: 'id,uuid,ref,slug,name',
    schema: list.pipe(z.array(z.string()).min(1, 'must name at least one member')),
  },
  refFields: {
    flags: '--ref-fields <names>',
    description:
      "a project's reference is the first of these members it has as a string that is not empty, or as an integer",
    default: 'ref,reference,id,uuid,slug',
    schema: list.pipe(z.array(z.string()).min(1, 'must name at least one member')),
  },
  ...remoteOptions,
  verify: {
    flags: '--verify',
    description: '--email, --emails: read both sides again afterwards, and compare',
    schema: booleanOption.optional(),
  },
  state: {
    flags: '--state <path>',
    description: '--emails: where to keep who is done, to go on there when run again (default: FILE.state)',
    schema: z.string().min(1, 'must not be empty').optional(),
  },
  to: {
    flags: '--to <url>',
    description: 'import into a gateway on another machine, through its POST /import, in place of --database',
    schema: z
      .string()
      .regex(/^https?:\/\//, 'must be http(s)://…')
      .optional(),
  },
  tokenFile: {
    flags: '--token-file <path>',
    description:
      '--to: the file that holds the token of its --import-token-file, or NAME:SECRET of a client with the scope import',
    schema: z.string().min(1, 'must not be empty').optional(),
  },
  keepGoing: {
    flags: '--keep-going',
    description: 'import the good lines and write the bad ones to the rejects file',
    schema: booleanOption.optional(),
  },
  replace: {
    flags: '--replace',
    description: 'every user of the input has exactly the input afterwards: what is not in it is removed',
    schema: booleanOption.optional(),
  },
  dryRun: {
    flags: '--dry-run',
    description: '--replace: only say what would be added, replaced, left and removed',
    schema: booleanOption.optional(),
  },
  verbose: {
    flags: '--verbose',
    description: '--replace: say it of each user',
    schema: booleanOption.optional(),
  },
  rejects: {
    flags: '--rejects <path>',
    description: 'where --keep-going writes bad lines: a new file (default: FILE.rejects.ndjson)',
    schema: z.string().min(1, 'must not be empty').optional(),
  },
  ...auditOptions,
  ...storeOptions,
} as const satisfies Record<string, OptionRow>

export type ImportConfig = Config<typeof IMPORT_OPTIONS>
