// POST /import: workspaces in from another machine, as NDJSON; its course out as NDJSON. There only where it is configured.
import type { Audit, AuditEvent } from '../auth/audit/audit-event.ts'
import { GatewayError } from '../errors.ts'
import type { Endpoint } from '../http/handler.ts'
import type { GatewayRequest } from '../http/request.ts'
import { NO_STORE } from '../http/response.ts'
import { countsInWords } from '../import-export/counts-in-words.ts'
import type { ImportEvent, ImportOptions } from '../import-export/run-import.ts'
import type { RequireImporter } from './import-access.ts'

const NDJSON = 'application/x-ndjson'
const KNOWN_PARAMETERS = 'Known parameters are replace, dry-run, verbose, id-fields and ref-fields.'
const FLAGS: Readonly<Record<string, 'isReplacement' | 'isDryRun' | 'isVerbose'>> = {
  replace: 'isReplacement',
  'dry-run': 'isDryRun',
  verbose: 'isVerbose',
}

const FIELDS: Readonly<Record<string, keyof ImportOptions['fields']>> = {
  'id-fields': 'idFields',
  'ref-fields': 'refFields',
}

/** Imports apart from the requests: in a thread of its own, on a connection of its own. */
export interface Importer {
  /**
   * Takes in all of the input, on disk, then answers how the import goes: it goes as the events are taken, and ends with
   * them. Null, and nothing is read, while another one is under way.
   */
  readonly run: (
    input: () => AsyncIterable<Uint8Array>,
    options: ImportOptions,
  ) => Promise<AsyncIterable<ImportEvent>> | null
}

export interface ImportServices {
  /** Whoever presents it may import everything, as registered clients with the scope `import` may; null without one. */
  readonly token: string | null
  readonly importer: Importer
}

export function createImportEndpoint(importer: Importer, requireImporter: RequireImporter, audit: Audit): Endpoint {
  async function requireAndTell(request: GatewayRequest): Promise<string> {
    try {
      return await requireImporter(request)
    } catch (error) {
      if (error instanceof GatewayError) {
        audit.record({ kind: 'import', result: 'refused', address: request.client.address, detail: error.code })
      }
      throw error
    }
  }

  return {
    method: 'POST',
    path: '/import',
    async handle(request) {
      // Before anything of the body is looked at.
      const name = await requireAndTell(request)
      const options = readOptions(request.search)
      const { address } = request.client
      const tell = (last: ImportEvent | null) => {
        if (!options.isDryRun) audit.record({ kind: 'import', address, ...outcomeOf(last, name, options) })
      }
      const running = importer.run(request.bodyStream, options)
      if (running === null) {
        throw new GatewayError('UNAVAILABLE', { message: 'Another import is under way.', retryAfterSeconds: 10 })
      }
      const events = await running.catch((error: unknown) => {
        tell(null)
        throw error
      })
      return { status: 200, headers: { 'content-type': NDJSON, ...NO_STORE }, body: asLines(events, tell) }
    },
  }
}

/** `replace`, `dry-run`, `verbose`: alone, or `=true` or `=false`. `id-fields`, `ref-fields`: names with commas between them. */
function readOptions(search: string): ImportOptions {
  const options = { isReplacement: false, isDryRun: false, isVerbose: false }
  const fields: { -readonly [name in keyof ImportOptions['fields']]: ImportOptions['fields'][name] } = {}
  for (const [name, value] of new URLSearchParams(search)) {
    const option = Object.hasOwn(FLAGS, name) ? FLAGS[name] : undefined
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined
    if (option && ['', 'true', 'false'].includes(value)) options[option] = value !== 'false'
    else if (field && !value.split(',').includes('')) fields[field] = value.split(',')
    else throw new GatewayError('INVALID_ARGUMENT', { message: KNOWN_PARAMETERS })
  }
  if ((options.isDryRun || options.isVerbose) && !options.isReplacement) {
    throw new GatewayError('INVALID_ARGUMENT', { message: 'dry-run and verbose go with replace.' })
  }
  return { ...options, fields }
}

async function* asLines(
  events: AsyncIterable<ImportEvent>,
  onEnd: (last: ImportEvent | null) => void,
): AsyncGenerator<Uint8Array> {
  let last: ImportEvent | null = null
  try {
    for await (const event of events) {
      last = event
      yield Buffer.from(`${JSON.stringify(event)}\n`)
    }
  } finally {
    onEnd(last)
  }
}

/** What the audit log keeps: who, how it ended, how much; nobody whose workspace it was. */
function outcomeOf(
  last: ImportEvent | null,
  name: string,
  { isReplacement }: ImportOptions,
): Pick<AuditEvent, 'result' | 'detail'> {
  switch (last?.type) {
    case 'imported':
      return { result: 'done', detail: `by ${name}: ${countsInWords(last, isReplacement)}` }
    case 'refused':
      return { result: 'refused', detail: `by ${name}: ${last.badLines} bad, nothing imported` }
    case 'progress':
      return { result: 'failed', detail: `by ${name}: broken off at record ${last.records}, ${last.phase}` }
    default:
      return { result: 'failed', detail: `by ${name}: broken off` }
  }
}
