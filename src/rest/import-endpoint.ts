// Serves POST /import: receives workspaces from another machine as NDJSON and streams the progress as NDJSON. The
// endpoint exists only where it is configured.
import { setTimeout as delay } from 'node:timers/promises'
import type { Audit, AuditEvent } from '../auth/audit/audit-event.ts'
import { GatewayError } from '../errors.ts'
import type { Endpoint } from '../http/handler.ts'
import type { GatewayRequest } from '../http/request.ts'
import { NO_STORE } from '../http/response.ts'
import { countsInWords } from '../import-export/counts-in-words.ts'
import type { ImportEvent, ImportOptions } from '../import-export/run-import.ts'
import type { RequireImporter } from './import-access.ts'

const NDJSON = 'application/x-ndjson'
/** An import that does not end this long after it was told to stop is recorded as broken off. */
const RECORD_WITHIN_MS = 2_000
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

/**
 * An import in progress. A consumer that stops iterating ends it; disposing ends it even if no consumer ever iterated.
 */
export interface RunningImport extends AsyncIterable<ImportEvent>, AsyncDisposable {
  /**
   * Resolves when the import has ended, whether or not a consumer has taken its events: with its outcome, or with its
   * last progress if it was ended before it had one. Never rejects.
   */
  readonly ended: Promise<ImportEvent>
}

/** Runs imports apart from the requests: in its own thread, on its own database connection. */
export interface Importer {
  /**
   * Stores all of the input on disk, then begins the import. Returns null, and reads nothing, while another import is
   * running.
   */
  readonly run: (input: () => AsyncIterable<Uint8Array>, options: ImportOptions) => Promise<RunningImport> | null
  /** Aborts the running import and refuses further ones. */
  readonly stop: () => Promise<void>
}

export interface ImportServices {
  /** The token that allows every import, like the scope `import` of a registered client; null without one. */
  readonly token: string | null
  readonly importer: Importer
}

interface Kept {
  readonly audit: Audit
  /** Disposed of before the audit log, which can thus still record the imports that are aborted. */
  readonly running: AsyncDisposableStack
}

/** Records how an import ended, once: further calls do nothing. Null for an import that never began. */
type RecordEnd = (last: ImportEvent | null) => void

export function createImportEndpoint(
  importer: Importer,
  requireImporter: RequireImporter,
  { audit, running }: Kept,
): Endpoint {
  const activeImports = new Set<RecordEnd>()
  const recorded = new Set<Promise<void>>()
  running.defer(async () => {
    const stopped = importer.stop().then(() => Promise.all(recorded))
    // An import may take longer to end than a supervisor waits before it kills the process. It is recorded before that.
    await Promise.race([stopped, delay(RECORD_WITHIN_MS, undefined, { ref: false })])
    for (const end of activeImports) end(null)
    await stopped
  })

  function begin(name: string, address: string, options: ImportOptions): RecordEnd {
    function end(last: ImportEvent | null): void {
      if (!activeImports.delete(end) || options.isDryRun) return
      audit.record({ kind: 'import', address, ...outcomeOf(last, name, options) })
    }
    activeImports.add(end)
    return end
  }

  /**
   * Records what the import did, not what its client has read: one that is committed is done, even if its client has
   * left.
   */
  function recordEnd({ ended }: RunningImport, end: RecordEnd): void {
    const recording = ended.then(end).finally(() => recorded.delete(recording))
    recorded.add(recording)
  }

  async function authorize(request: GatewayRequest): Promise<string> {
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
      // Runs before anything of the body is read.
      const name = await authorize(request)
      const options = readOptions(request.search)
      const starting = importer.run(request.bodyStream, options)
      if (starting === null) {
        throw new GatewayError('UNAVAILABLE', { message: 'Another import is running.', retryAfterSeconds: 10 })
      }
      const end = begin(name, request.client.address, options)
      const importing = await starting.catch((error: unknown) => {
        end(null)
        throw error
      })
      recordEnd(importing, end)
      return {
        status: 200,
        headers: { 'content-type': NDJSON, ...NO_STORE },
        body: asLines(importing),
        held: endWithAnswer(importing),
      }
    },
  }
}

/**
 * Parses `replace`, `dry-run`, `verbose`: alone, or with `=true` or `=false`; `id-fields`, `ref-fields`: names
 * separated by commas. Throws `INVALID_ARGUMENT`, also for a parameter that is given twice: of `dry-run` and
 * `dry-run=false` neither may win.
 */
function readOptions(search: string): ImportOptions {
  const options = { isReplacement: false, isDryRun: false, isVerbose: false }
  const fields: { -readonly [name in keyof ImportOptions['fields']]: ImportOptions['fields'][name] } = {}
  const given = new URLSearchParams(search)
  for (const [name, value] of given) {
    const option = Object.hasOwn(FLAGS, name) ? FLAGS[name] : undefined
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined
    if (option) options[option] = readFlag(name, value)
    else if (field) fields[field] = readNames(name, value)
    else throw new GatewayError('INVALID_ARGUMENT', { message: `Known parameters are ${KNOWN_PARAMETERS}.` })
    if (given.getAll(name).length > 1)
      throw new GatewayError('INVALID_ARGUMENT', { message: `${name} is given twice.` })
  }
  if ((options.isDryRun || options.isVerbose) && !options.isReplacement) {
    throw new GatewayError('INVALID_ARGUMENT', { message: 'dry-run and verbose need replace.' })
  }
  return { ...options, fields }
}

function readFlag(name: string, value: string): boolean {
  if (['', 'true', 'false'].includes(value)) return value !== 'false'
  throw new GatewayError('INVALID_ARGUMENT', { message: `${name} must have no value, or be true or false.` })
}

function readNames(name: string, value: string): readonly string[] {
  const names = value.split(',')
  if (!names.includes('')) return names
  throw new GatewayError('INVALID_ARGUMENT', { message: `${name} must be names of members, separated by commas.` })
}

async function* asLines(events: AsyncIterable<ImportEvent>): AsyncGenerator<Uint8Array> {
  for await (const event of events) yield Buffer.from(`${JSON.stringify(event)}\n`)
}

/** Ends an import whose answer is not sent: the client has left, or there is no room for the answer. */
function endWithAnswer(importing: RunningImport): Disposable {
  return {
    [Symbol.dispose]() {
      void importing[Symbol.asyncDispose]()
    },
  }
}

/** Returns what the audit log records: who imported, how it ended and how much; not whose workspaces they were. */
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
