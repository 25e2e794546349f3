// The streams of the process as a command uses them, and what happens when their readers or disks fail.
import { fstatSync, writeFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { reasonOf } from '../../errors.ts'
import { memberOf } from '../../member-of.ts'
import type { Environment } from '../configuration/settings.ts'
import type { CommandIo } from '../io.ts'

/** File descriptors. */
const STDIN = 0
const STDOUT = 1
const FAILED = 1
/** The name by which a terminal says that it knows no escape codes (terminfo), such as a shell in Emacs. */
const DUMB_TERMINAL = 'dumb'
/** How long `serve` and `follow` wait after they have stopped, for output that its reader has not taken yet. */
const READER_GRACE_MS = 1_000
/** Errors of stdout that have been reported, so that a command that ends with one of them does not repeat it. */
const stdoutErrors = new WeakSet<WeakKey>()

export function processIo(): CommandIo {
  process.stdout.on('error', reportStdout)
  if (fstatSync(STDOUT).isFile()) process.stdout._write = writeWhole
  process.stderr.on('error', ignore)
  return {
    stdin: readableStdin(),
    stdout: process.stdout,
    stderr: process.stderr,
    isTerminal: process.stderr.isTTY === true && process.env.TERM !== DUMB_TERMINAL,
    isColourless: isColourless(process.env),
    clock: Date.now,
  }
}

/** The variables that many programs know (no-color.org, force-color.org). The second overrides the first, as in Node. */
function isColourless({ NO_COLOR = '', FORCE_COLOR }: Environment): boolean {
  return FORCE_COLOR === undefined ? NO_COLOR !== '' : ['0', 'false'].includes(FORCE_COLOR)
}

/** Node itself drops the rest of a chunk, without an error, when a file had room for its beginning only. */
function writeWhole(chunk: Buffer, _encoding: BufferEncoding, onWritten: (error?: Error) => void): void {
  try {
    writeFileSync(STDOUT, chunk)
    onWritten()
  } catch (error) {
    onWritten(error instanceof Error ? error : new Error(reasonOf(error)))
  }
}

/** For any other kind of stdin, such as a folder, Node would make an empty stream, as if nothing had been sent. */
function readableStdin(): Readable {
  const stdin = fstatSync(STDIN)
  if (stdin.isFile() || stdin.isFIFO() || stdin.isSocket() || stdin.isCharacterDevice()) return process.stdin
  return new Readable({
    read() {
      this.destroy(new Error('it is neither a file nor a pipe'))
    },
  })
}

/**
 * Reports the first failure of stdout, for example on a full disk. The process exits with 1, but not at once: a command
 * that has changed something still records that in the audit log, and erases what it removed.
 */
function reportStdout(error: Error): void {
  // The next write reports a broken pipe to the command.
  if (isBrokenPipe(error)) return
  if (process.exitCode !== FAILED) process.stderr.write(`cannot write to stdout: ${reasonOf(error)}\n`)
  process.exitCode = FAILED
  stdoutErrors.add(error)
}

/** When the disk of its log is full, a gateway loses log lines and goes on serving. It writes again later. */
export function outliveOutput({ stdout }: CommandIo): void {
  stdout.off('error', reportStdout).on('error', ignore)
}

/** Exits: unread output in a pipe would keep the process alive, and the reader of a log may have stopped. */
export function leaveUnread({ stderr }: CommandIo): void {
  if (stderr === process.stderr) setTimeout(() => process.exit(), READER_GRACE_MS).unref()
}

/** For errors of stderr: no stream is left to report them to. */
function ignore(): void {}

/** True for an error of stdout that nobody needs to be told. */
export function isToldOfStdout(error: unknown): boolean {
  return isBrokenPipe(error) || stdoutErrors.has(Object(error))
}

/** True when the reader of stdout has closed it, as `head` does. */
function isBrokenPipe(error: unknown): boolean {
  return memberOf(error, 'code') === 'EPIPE'
}
