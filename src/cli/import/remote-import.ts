// The client of POST /import: sends a file to a gateway and reports its progress there.
import { noAnswerInWords, UsageError } from '../../errors.ts'
import {
  badLinesInWords,
  countsInWords,
  notImportedInWords,
  orphansByLine,
  orphansInWords,
} from '../../import-export/counts-in-words.ts'
import { statusInWords } from '../../import-export/remote/redirect.ts'
import { kindOfStatus } from '../../import-export/remote/retry.ts'
import type { ImportEvent } from '../../import-export/run-import.ts'
import { limitWait } from '../../limit-wait.ts'
import { memberOf } from '../../member-of.ts'
import { toLine } from '../../redact.ts'
import { readAtMost, sendRequest } from '../../send-request.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { requireServerAddress } from '../move-in/remote-address.ts'
import { IMPORT_OPTIONS, type ImportConfig } from '../options/import-options.ts'
import { createProgress } from '../progress.ts'
import type { ImportSource } from './import-source.ts'
import { readToken } from './read-token.ts'

const PATH = '/import'
/**
 * Time limit for each part of the answer, once it has begun, and for a whole refusal: the gateway sends an event every
 * few seconds.
 */
const SILENCE_MS = 60_000
/** Maximum length of a refusal that is read. Those of a gateway are much shorter. */
const MAX_REFUSAL_BYTES = 65_536
/** For a 413 without a reason. A gateway gives one. */
const TOO_LARGE =
  'something in front of the gateway refuses bodies of this size; `workspace-gateway doctor URL` tells how to change that'

/** For a 404: a gateway that accepts no imports has nothing at this path. */
const NO_IMPORTS =
  'start the gateway with --import-token-file, or with the login guard client, and give its address with the base path'

/**
 * Sends the whole file and waits for the outcome. After a broken connection the operator runs it again. Throws
 * `UsageError` when the request itself is refused.
 */
export async function importRemotely(
  { file, name }: ImportSource,
  config: ImportConfig,
  to: string,
  io: CommandIo,
): Promise<ExitCode> {
  if (config.tokenFile === undefined) throw new UsageError('--token-file (WORKSPACE_GATEWAY_TOKEN_FILE): must be given')
  const address = requireServerAddress(to, '--token-file')
  const token = readToken(config.tokenFile, '--token-file')
  const { size } = await file.stat()
  const silence = new AbortController()
  // The token and the workspaces go to no other host than the named one: redirects are not followed.
  const response = await sendRequest(withParameters(address, config), {
    method: 'POST',
    headers: { authorization: authorizationOf(token), 'content-type': 'application/x-ndjson' },
    body: file.createReadStream({ start: 0, autoClose: false }),
    signal: silence.signal,
  }).catch((error: unknown) => noAnswerInWords(error))
  if (typeof response === 'string') {
    io.stderr.write(`${address}: ${response}: run the import again\n`)
    return 1
  }
  if (!response.ok || !response.body) {
    const reason = await refusalOf(address, response, silence)
    // Another attempt does not fix a refusal of the request itself.
    if (kindOfStatus(response.status) === 'answer') throw new UsageError(reason)
    io.stderr.write(`${reason.replace(/\.$/, '')}: run the import again\n`)
    return 1
  }
  const progress = createProgress(io, 'importing there', size)
  let end: ImportEvent | null = null
  let badLines = 0
  try {
    const parts = limitWait(response.body, SILENCE_MS, () => silence.abort())
    for await (const event of eventsOf(parts)) {
      if (event.type === 'progress') {
        progress.update(event.bytes, event.records)
        continue
      }
      progress.clear()
      if (event.type === 'badLine') {
        badLines += 1
        io.stderr.write(`${name}:${event.line}: ${event.reason}\n`)
      } else if (event.type === 'user') io.stdout.write(`${event.email}: ${countsInWords(event, true)}\n`)
      else end = event
    }
  } catch {
    // The connection broke off. `reportOutcome` reports it, because `end` is null.
  }
  progress.clear()
  return reportOutcome(end, badLines, name, config, io)
}

/** Basic for the name and secret of a client as `clients add` prints them. Anything else is a bearer token. */
function authorizationOf(token: string): string {
  return /^[\w.-]+:wgs_/.test(token) ? `Basic ${Buffer.from(token).toString('base64')}` : `Bearer ${token}`
}

function withParameters(gateway: string, { replace, dryRun, verbose, idFields, refFields }: ImportConfig): string {
  const address = new URL(gateway + PATH)
  for (const [flag, isSet] of Object.entries({ replace, 'dry-run': dryRun, verbose })) {
    if (isSet) address.searchParams.set(flag, 'true')
  }
  // Defaults are left out: a gateway of an earlier version does not know these parameters.
  const { idFields: ids, refFields: references } = IMPORT_OPTIONS
  if (idFields.join() !== ids.default) address.searchParams.set('id-fields', idFields.join())
  if (refFields.join() !== references.default) address.searchParams.set('ref-fields', refFields.join())
  return address.href
}

async function refusalOf(address: string, response: Response, silence: AbortController): Promise<string> {
  const timer = setTimeout(() => silence.abort(), SILENCE_MS)
  const body = await readAtMost(response, MAX_REFUSAL_BYTES).catch(() => null)
  clearTimeout(timer)
  const problem: unknown = body && (await new Response(body).json().catch(() => null))
  const detail: unknown = memberOf(problem, 'detail')
  if (response.status === 404) return `${address} answered 404: ${NO_IMPORTS}`
  const advice = response.status === 413 ? TOO_LARGE : null
  const reason = typeof detail === 'string' ? toLine(detail) : advice
  return `${address} ${statusInWords(response, address, PATH)}${reason === null ? '' : `: ${reason}`}`
}

async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<ImportEvent> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line, toPrintable) as ImportEvent
  }
}

/** Any text of an event may be printed, and comes from another machine. */
function toPrintable(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? toLine(value) : value
}

/** Reports the outcome. `badLines` is the number of bad lines printed already. */
function reportOutcome(
  end: ImportEvent | null,
  badLines: number,
  name: string,
  { replace }: ImportConfig,
  { stdout, stderr }: CommandIo,
): ExitCode {
  if (end?.type === 'imported' || end?.type === 'wouldImport') {
    // A gateway of an earlier version sends neither `orphanExports` nor `orphans`.
    const { orphanExports = 0, orphans = [] }: Partial<typeof end> = end
    stderr.write(orphansByLine(name, orphans, orphanExports))
    const done = `${countsInWords(end, replace === true)}${orphansInWords(orphanExports)}`
    stdout.write(`${end.type === 'imported' ? 'imported' : 'would import'} ${name}: ${done}\n`)
    // These lines were refused only during the import: a list was full, or another import took the reference.
    if (badLines > 0) stderr.write(`${notImportedInWords(badLines)}\n`)
    return badLines > 0 ? 1 : 0
  }
  if (end?.type === 'refused') stderr.write(`${badLinesInWords(end.badLines)}: nothing was imported\n`)
  else if (end?.type === 'failed') stderr.write(`${end.message}\n`)
  else stderr.write('the connection broke off: run the import again\n')
  return 1
}
