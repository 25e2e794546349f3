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
const FLAGS: Readonly<Record<string, 'isReplacement' | 'isDryRun' | 'isVerbose'>> = {
  replace: 'isReplacement',
  'dry-run': 'isDryRun',
  verbose: 'isVerbose',
}

const FIELDS: Readonly<Record<string, keyof ImportOptions['fields']>> = {
  'id-fields': 'idFields',
  'ref-fields': 'refFields',
}

const KNOWN_PARAMETERS = new Intl.ListFormat('en-GB').format([...Object.keys(FLAGS), ...Object.keys(FIELDS)])

/** An import under way. A consumer that stops taking its events ends it; disposing of it ends it also where nobody has taken any. */
export interface RunningImport extends AsyncIterable<ImportEvent>, AsyncDisposable {}

/** Imports apart from the requests: in a thread of its own, on a connection of its own. */
export interface Importer {
  /** Takes in all of the input, on disk, then begins the import. Null, and nothing is read, while another one is under way. */
  readonly run: (input: () => AsyncIterable<Uint8Array>, options: ImportOptions) => Promise<RunningImport> | null
  /** Breaks off what is under way; afterwards nothing is imported any more. */
  readonly stop: () => Promise<void>
}

export interface ImportServices {
  /** The token that allows every import, as the scope `import` of a registered client does; null without one. */
  readonly token: string | null
  readonly importer: Importer
}

interface Kept {
  readonly audit: Audit
  /** Disposed of before the audit log is: what is broken off then is told there. */
  readonly running: AsyncDisposableStack
}

/** An import that the audit log is to be told of. */
interface Told {
  /** What was seen of it last. */
  readonly onEvent: (event: ImportEvent) => void
  /** Once; further calls do nothing. */
  readonly end: () => void
}

export function createImportEndpoint(
  importer: Importer,
  requireImporter: RequireImporter,
  { audit, running }: Kept,
): Endpoint {
  const underWay = new Set<() => void>()
  running.defer(async () => {
    await importer.stop()
    for (const end of underWay) end()
  })

  function begin(name: string, address: string, options: ImportOptions): Told {
    let last: ImportEvent | null = null
    function end(): void {
      if (!underWay.delete(end) || options.isDryRun) return
      audit.record({ kind: 'import', address, ...outcomeOf(last, name, options) })
    }
    underWay.add(end)
    return {
      end,
      onEvent(event) {
        last = event
      },
    }
  }

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
      const starting = importer.run(request.bodyStream, options)
      if (starting === null) {
        throw new GatewayError('UNAVAILABLE', { message: 'Another import is under way.', retryAfterSeconds: 10 })
      }
      const told = begin(name, request.client.address, options)
      const importing = await starting.catch((error: unknown) => {
        told.end()
        throw error
      })
      return {
        status: 200,
        headers: { 'content-type': NDJSON, ...NO_STORE },
        body: asLines(importing, told),
        held: endWithAnswer(importing, told),
      }
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
    if (option) options[option] = readFlag(name, value)
    else if (field) fields[field] = readNames(name, value)
    else throw new GatewayError('INVALID_ARGUMENT', { message: `Known parameters are ${KNOWN_PARAMETERS}.` })
  }
  if ((options.isDryRun || options.isVerbose) && !options.isReplacement) {
    throw new GatewayError('INVALID_ARGUMENT', { message: 'dry-run and verbose go with replace.' })
  }
  return { ...options, fields }
}

function readFlag(name: string, value: string): boolean {
  if (['', 'true', 'false'].includes(value)) return value !== 'false'
  throw new GatewayError('INVALID_ARGUMENT', { message: `${name} is given alone, or as true or false.` })
}

function readNames(name: string, value: string): readonly string[] {
  const names = value.split(',')
  if (!names.includes('')) return names
  throw new GatewayError('INVALID_ARGUMENT', { message: `${name} is names of fields with commas between them.` })
}

async function* asLines(events: AsyncIterable<ImportEvent>, { onEvent, end }: Told): AsyncGenerator<Uint8Array> {
  try {
    for await (const event of events) {
      onEvent(event)
      yield Buffer.from(`${JSON.stringify(event)}\n`)
    }
  } finally {
    end()
  }
}

/** Ends an import whose answer is not sent: its client has left, or there is no room for the answer. */
function endWithAnswer(importing: RunningImport, { end }: Told): Disposable {
  return {
    [Symbol.dispose]() {
      end()
      void importing[Symbol.asyncDispose]()
    },
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
