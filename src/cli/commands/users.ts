// users list, show, rename and remove: shows how much is stored for each user, changes an email, removes users.
import { canonicalEmail } from '../../auth/email.ts'
import { UsageError } from '../../errors.ts'
import { userPages } from '../../store/paging/paging.ts'
import type { Holdings } from '../../store/workspace-edits.ts'
import { flushAndTell } from '../flush-removals.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { openCommandAudit } from '../open-audit.ts'
import { openStoreToRead, openStoreToWrite } from '../open-store-for-cli.ts'
import type { UsersConfig } from '../options/workspace-options.ts'
import { toSize } from '../progress.ts'
import { writeLine } from '../write-line.ts'

/** Writes one line for each user, in order of email. */
export async function runUsersList(config: UsersConfig, io: CommandIo): Promise<ExitCode> {
  await using store = await openStoreToRead(config, io)
  for await (const users of userPages(store)) {
    for (const held of await store.holdingsOf(users.map(({ email }) => email))) {
      if (held) await writeLine(io.stdout, `${held.email}\t${inWords(held)}`)
    }
  }
  return 0
}

export async function runUsersShow(input: string, config: UsersConfig, io: CommandIo): Promise<ExitCode> {
  await using store = await openStoreToRead(config, io)
  const email = requireEmail(input, 'this')
  const [held] = await store.holdingsOf([email])
  if (!held) return notStored(email, io)
  io.stdout.write(`${held.email}\t${inWords(held)}\n`)
  return 0
}

export async function runUsersRename(from: string, to: string, config: UsersConfig, io: CommandIo): Promise<ExitCode> {
  const [before, after] = [requireEmail(from, 'the old email'), requireEmail(to, 'the new email')]
  if (before === after) throw new UsageError('the new email is the same as the old one')
  await using store = await openStoreToWrite(config)
  await using audit = await openCommandAudit(store, config, io)
  const [held] = await store.holdingsOf([before])
  const outcome = await store.renameUser(before, after)
  if (outcome === 'unknown') {
    // Flushed all the same: a run that was killed may have renamed the user and left the old email in the files.
    await flushAndTell(store, config, io)
    return notStored(before, io)
  }
  if (outcome === 'taken') {
    io.stderr.write('a workspace is stored for the new email already: nothing was changed\n')
    return 1
  }
  audit.record({ kind: 'removal', result: 'done', email: before, isGone: true, detail: 'renamed' })
  io.stdout.write(`renamed: everything is kept, ${count(held?.sessions ?? 0, 'session')} of the old email ended\n`)
  await flushAndTell(store, config, io)
  return 0
}

/** Removes everything stored for each email. For an unknown email it returns 1, after removing the others. */
export async function runUsersRemove(inputs: readonly string[], config: UsersConfig, io: CommandIo): Promise<ExitCode> {
  const emails = inputs.map((input, index) => requireEmail(input, `email ${index + 1}`))
  await using store = await openStoreToWrite(config)
  await using audit = await openCommandAudit(store, config, io)
  let exitCode: ExitCode = 0
  for (const email of emails) {
    const [held] = await store.removeUsers([email])
    if (!held) {
      exitCode = notStored(email, io)
      continue
    }
    audit.record({ kind: 'removal', result: 'done', email, isGone: true, detail: inWords(held) })
    io.stdout.write(`removed ${email}: ${inWords(held)}\n`)
  }
  await flushAndTell(store, config, io)
  return exitCode
}

/** The message calls the input `name`, because a message may be in a log and must not quote what may be an email. */
function requireEmail(input: string, name: string): string {
  const email = canonicalEmail(input)
  if (email === null) throw new UsageError(`${name} is not a valid email address`)
  return email
}

function notStored(email: string, { stderr }: CommandIo): ExitCode {
  stderr.write(`nothing is stored for ${email}\n`)
  return 1
}

function inWords({ projects, templates, uiLibraries, exports, exportBytes, sessions }: Holdings): string {
  return [
    count(projects, 'project'),
    count(templates, 'template'),
    uiLibraries === 1 ? '1 UI library' : `${uiLibraries} UI libraries`,
    `${count(exports, 'export')} (${toSize(exportBytes)})`,
    count(sessions, 'session'),
  ].join(', ')
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}
