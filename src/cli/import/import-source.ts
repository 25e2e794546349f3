// Opens the input of an import. An import reads twice, so stdin and HTTP input are first stored in a temporary file.
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasNoRoom, MachineError, noAnswerInWords, reasonOf, UsageError } from '../../errors.ts'
import { targetOf } from '../../import-export/remote/redirect.ts'
import { kindOfStatus } from '../../import-export/remote/retry.ts'
import { limitWait } from '../../limit-wait.ts'
import { sendRequest, withCode } from '../../send-request.ts'
import type { CommandIo } from '../io.ts'
import { shownAddress } from '../move-in/remote-address.ts'
import { writeChunks } from '../write-line.ts'
import { openReadableFile, requirePlain } from './readable-file.ts'

export interface ImportSource extends AsyncDisposable {
  readonly file: FileHandle
  /** Name of the input for messages. */
  readonly name: string
  /** Advice to print when none of its lines is a record. */
  readonly advice?: string
}

const SERVER_ADVICE = 'to read a server of the contract, name its users with --email or --emails'
const ADDRESS = /^https?:\/\//
const MAX_REDIRECTS = 20
/** Time limit until a response begins, and for each further part of it. */
const SILENCE_MS = 60_000
/** Opens a file without a name in a folder (O_TMPFILE of open(2)). Other systems and some file systems refuse it. */
const WITHOUT_NAME = constants.O_RDWR | constants.O_DIRECTORY | 0o20_000_000
/** Too many open files: a later attempt may succeed. */
const TOO_MANY_OPEN = /^(?:EMFILE|ENFILE)$/

type Chunks = AsyncIterable<string | Uint8Array>

/**
 * Opens a file, stdin (`-`) or an http(s) address of a file. Throws `UsageError` when it cannot be read, and
 * `MachineError` when a later attempt may succeed.
 */
export async function openImportSource(source: string, io: CommandIo): Promise<ImportSource> {
  const opened = await openSource(source, io)
  try {
    await requirePlain(opened.file, opened.name)
    return opened
  } catch (error) {
    await opened.file.close()
    throw error
  }
}

async function openSource(source: string, io: CommandIo): Promise<ImportSource> {
  if (ADDRESS.test(source)) {
    const { host } = requireFileAddress(source)
    return { ...(await spool(fetchFile(source), host)), advice: SERVER_ADVICE }
  }
  return source === '-' ? spool(readStdin(io), 'stdin') : openFile(source)
}

/** Throws `UsageError`. */
function requireFileAddress(url: string): URL {
  const address = URL.parse(url)
  if (!address) throw new UsageError('the address of a file must have a host after http:// or https://')
  if (address.username !== '' || address.password !== '') {
    throw new UsageError(
      'the address of a file must not have a user or password: fetch it with another program, and pipe it in',
    )
  }
  return address
}

async function openFile(path: string): Promise<ImportSource> {
  const file = await openReadableFile(path, ' (pipe it in and use - to read from stdin)')
  return { file, name: path, [Symbol.asyncDispose]: () => file.close() }
}

/**
 * Stores all chunks in a temporary file without a name, so that nothing is left behind. `name` is for messages. Throws
 * `UsageError`, and `MachineError` on a full disk.
 */
export async function spool(chunks: Chunks, name: string): Promise<ImportSource> {
  const file = await openTemporaryFile(name)
  try {
    await writeChunks(file, chunks, `cannot store ${name} in ${tmpdir()} (set TMPDIR to use another folder)`)
  } catch (error) {
    await file.close()
    throw error
  }
  return { file, name, [Symbol.asyncDispose]: () => file.close() }
}

/**
 * Opens a temporary file without a name, which disappears when it is closed, or when the process is killed. `name` is
 * for messages. Throws `UsageError`, and `MachineError` when there may be room later.
 */
export function openTemporaryFile(name = 'what arrives'): Promise<FileHandle> {
  return open(tmpdir(), WITHOUT_NAME, 0o600).catch(() => openUnlinkedFile(name))
}

/** Leaves an empty file behind if the process is killed between the two steps. */
async function openUnlinkedFile(name: string): Promise<FileHandle> {
  const path = join(tmpdir(), `workspace-gateway-import-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600).catch((error: NodeJS.ErrnoException) => {
    const reason = `cannot store ${name} during the import: ${error.message} (set TMPDIR to use another folder)`
    throw hasNoRoom(error) || TOO_MANY_OPEN.test(error.code ?? '') ? new MachineError(reason) : new UsageError(reason)
  })
  await rm(path)
  return file
}

async function* readStdin({ stdin }: CommandIo): AsyncGenerator<string | Uint8Array> {
  try {
    yield* stdin
  } catch (error) {
    throw new MachineError(`cannot read stdin: ${reasonOf(error)}`, { cause: error })
  }
}

/**
 * Follows redirects, because the request holds nothing that is secret. Throws `UsageError` for one from HTTPS to HTTP: on
 * the way, anybody could change what is imported.
 */
async function download(url: string, signal: AbortSignal, redirects = 0): Promise<Response> {
  const response = await sendRequest(url, { method: 'GET', signal })
  const target = targetOf(response, url, '')
  if (target === null || redirects === MAX_REDIRECTS) return response
  await response.body?.cancel()
  if (url.startsWith('https:') && target.protocol === 'http:') {
    const from = `it answered ${response.status} and points to ${shownAddress(target.href)}`
    throw new UsageError(`${from}, which is not encrypted: name that address if you trust the network`)
  }
  return download(target.href, signal, redirects + 1)
}

async function* fetchFile(url: string): AsyncGenerator<Uint8Array> {
  const shown = shownAddress(url)
  const silence = new AbortController()
  const giveUp = () => silence.abort(withCode('ETIMEDOUT'))
  const timer = setTimeout(giveUp, SILENCE_MS)
  const response = await download(url, silence.signal)
    .catch((error: unknown) => {
      if (error instanceof UsageError) throw new UsageError(`cannot read ${shown}: ${error.message}`)
      throw new MachineError(`cannot read ${shown}: ${noAnswerInWords(error)}`, { cause: error })
    })
    .finally(() => clearTimeout(timer))
  if (!response.ok || !response.body) {
    // An unread body would keep its connection, and with it the process, until the server closes it.
    await response.body?.cancel()
    const message = `cannot read ${shown}: it answered ${response.status}; ${SERVER_ADVICE}`
    throw kindOfStatus(response.status) === 'answer' ? new UsageError(message) : new MachineError(message)
  }
  try {
    yield* limitWait(response.body, SILENCE_MS, giveUp)
  } catch (error) {
    throw new MachineError(`cannot read ${shown}: ${noAnswerInWords(error, 'its answer broke off')}`, { cause: error })
  }
}
