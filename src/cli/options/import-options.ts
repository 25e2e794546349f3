// The options of `import`, for all its forms: from a file, from a server, and to a gateway.
import { z } from 'zod'
import { auditOptions } from './audit-options.ts'
import { database, storeOptions } from './database-options.ts'
import { remoteOptions } from './move-in/remote-options.ts'
import { booleanOption, type Config, inGroup, list, nonEmpty, type OptionRow } from './option.ts'

export const IMPORT_OPTIONS = {
  database,
  replace: {
    flags: '--replace',
    description: 'remove what the input lacks: afterwards, every user in the input has exactly what is in it',
    schema: booleanOption.optional(),
  },
  dryRun: {
    flags: '--dry-run',
    description: '--replace: change nothing; report what would be added, replaced, left and removed',
    schema: booleanOption.optional(),
  },
  verbose: {
    flags: '--verbose',
    description: '--replace: also report for each user what is added, replaced, left and removed',
    schema: booleanOption.optional(),
  },
  keepGoing: {
    flags: '--keep-going',
    description: 'import the good lines and write the bad ones to the rejects file',
    schema: booleanOption.optional(),
  },
  rejects: {
    flags: '--rejects <path>',
    description: 'new file for the bad lines of --keep-going (default: FILE.rejects.ndjson)',
    schema: nonEmpty.optional(),
  },
  ...inGroup('Import from another server', {
    ...remoteOptions,
    verify: {
      flags: '--verify',
      description: '--email, --emails: afterwards, read both sides again and compare them',
      schema: booleanOption.optional(),
    },
    state: {
      flags: '--state <path>',
      description:
        '--emails: file that records which users are done, so that another run resumes (default: FILE.state)',
      schema: nonEmpty.optional(),
    },
  }),
  ...inGroup('Import over HTTP', {
    to: {
      flags: '--to <url>',
      description: 'import into a gateway on another machine through its POST /import, instead of into --database',
      schema: z
        .string()
        .regex(/^https?:\/\//, 'must be http(s)://…')
        .optional(),
    },
    tokenFile: {
      flags: '--token-file <path>',
      description:
        '--to: file with the token of its --import-token-file, or with NAME:SECRET of a client with the scope import',
      schema: nonEmpty.optional(),
    },
  }),
  ...inGroup('Ids and references', {
    idFields: {
      flags: '--id-fields <names>',
      description: "members that can hold a document's id; the first one with a non-empty string or an integer is used",
      default: 'id,uuid,ref,slug,name',
      schema: list.pipe(z.array(z.string()).min(1, 'must name at least one member')),
    },
    refFields: {
      flags: '--ref-fields <names>',
      description:
        "members that can hold a project's reference; the first one with a non-empty string or an integer is used",
      default: 'ref,reference,id,uuid,slug',
      schema: list.pipe(z.array(z.string()).min(1, 'must name at least one member')),
    },
  }),
  ...auditOptions,
  ...storeOptions,
} as const satisfies Record<string, OptionRow>

export type ImportConfig = Config<typeof IMPORT_OPTIONS>
