// dump: workspaces out, as NDJSON that import reads.
import { type FileHandle, open, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { canonicalEmail } from '../../auth/email.ts'
import { reasonOf, UsageError } from '../../errors.ts'
import { dumpUser, dumpUsers } from '../../import-export/dump.ts'
import type { Snapshot, StoredUser } from '../../store/contract.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { openStoreForCli } from '../open-store-for-cli.ts'
import type { DumpConfig } from '../options/dump-options.ts'
import { writeChunks } from '../write-line.ts'

export async function runDump(config: DumpConfig, io: CommandIo): Promise<ExitCode> {
  await using store = await openStoreForCli(config, true)
  await using snapshot = await store.openSnapshot()
  const lines =
    config.email === undefined ? dumpUsers(snapshot) : dumpUser(snapshot, await requireUser(snapshot, config.email))
  if (config.output === undefined) {
    await pipeline(Readable.from(lines, { objectMode: true }), io.stdout, { end: false })
  } else {
    await writeNew(config.output, lines)
  }
  return 0
}

/** All of it, or no file of that name. */
async function writeNew(path: string, lines: AsyncIterable<string>): Promise<void> {
  await using file = await openNew(path)
  try {
    await writeChunks(file, lines, `--output: cannot write ${path}`)
  } catch (error) {
    await rm(path)
    throw error
  }
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600)
  } catch (error) {
    const isThere = Reflect.get(Object(error), 'code') === 'EEXIST'
    throw new UsageError(
      isThere
        ? `--output: ${path} is there already, and is not written over`
        : `--output: cannot make ${path}: ${reasonOf(error)}`,
    )
  }
}

async function requireUser(snapshot: Snapshot, input: string): Promise<StoredUser> {
  const email = canonicalEmail(input)
  if (email === null) throw new UsageError('--email: not a valid email address')
  const user = await snapshot.userByEmail(email)
  if (!user) throw new UsageError('--email: no workspace is stored for this email')
  return user
}
