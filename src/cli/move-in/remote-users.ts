// Reads the list of users to import from another server, from --email or from a file.
import { statSync } from 'node:fs'
import { canonicalEmail } from '../../auth/email.ts'
import { UsageError } from '../../errors.ts'
import type { RemoteUser } from '../../import-export/remote/move-in.ts'
import { readFileOf } from '../configuration/text-file.ts'

/** Maximum number of invalid lines that are reported one by one. */
const MAX_NAMED = 20

export interface UserNames {
  readonly email?: readonly string[] | undefined
  readonly emails?: string | undefined
}

/** Returns the users in the order given. Throws one `UsageError` that names every problem and contains no email. */
export function readRemoteUsers({ email, emails }: UserNames): readonly RemoteUser[] {
  if ((email === undefined) === (emails === undefined)) {
    throw new UsageError('--email or --emails: give one of them to name the users whose workspaces to read')
  }
  const named = emails === undefined ? (email ?? []).map(toNamed) : linesOf(emails)
  const wrong: string[] = []
  const users = new Map<string, RemoteUser>()
  for (const { login, label } of named) {
    const canonical = canonicalEmail(login)
    const known = canonical === null ? undefined : users.get(canonical)
    if (canonical === null) wrong.push(`${label}: not an email address`)
    else if (known) wrong.push(`${label}: the same user as ${known.label}`)
    else users.set(canonical, { email: canonical, login, label })
  }
  if (wrong.length > MAX_NAMED) wrong.splice(MAX_NAMED, wrong.length, `… and ${wrong.length - MAX_NAMED} more`)
  if (users.size === 0 && wrong.length === 0) wrong.push(`${emails ?? '--email'}: names no user`)
  if (wrong.length > 0) throw new UsageError(wrong.join('\n'))
  return [...users.values()]
}

/**
 * Returns a function that reads the list again on each call. Only the first reading, in this function, throws
 * `UsageError`. When a later one fails, `onWrong` receives the reason, once while it stays the same, and the last valid
 * list is returned. A pipe is read once.
 */
export function openRemoteUsers(names: UserNames, onWrong: (reason: string) => void): () => readonly RemoteUser[] {
  let users = readRemoteUsers(names)
  let toldReason = ''
  return () => {
    // A pipe yields its list once. Opening it again would wait for another writer, and heed no signal meanwhile.
    if (isPipe(names.emails)) return users
    try {
      users = readRemoteUsers(names)
      toldReason = ''
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      if (error.message !== toldReason) onWrong(error.message)
      toldReason = error.message
    }
    return users
  }
}

/** False for a file that cannot be looked up: reading it reports the reason. */
function isPipe(path: string | undefined): boolean {
  try {
    return path !== undefined && statSync(path).isFIFO()
  } catch {
    return false
  }
}

interface Named {
  readonly login: string
  readonly label: string
}

function toNamed(login: string, index: number): Named {
  return { login, label: `--email, address ${index + 1}` }
}

/** Blank lines and lines that begin with # are skipped. */
function linesOf(path: string): readonly Named[] {
  return readFileOf('--emails', path)
    .split(/\r?\n/)
    .map((line, index) => ({ login: line.trim(), label: `${path}:${index + 1}` }))
    .filter(({ login }) => login !== '' && !login.startsWith('#'))
}
