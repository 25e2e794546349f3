// Tells which login guards of the gateway can decide a sign-in.
import type { ExplorerData } from '../../pages/explorer-config.ts'

export type Guarded = Pick<ExplorerData, 'loginGuard'>

/** The names of the guards, in the order in which they are asked. */
export function askedGuards({ loginGuard }: Guarded): readonly string[] {
  const names = loginGuard.split(',')
  const mail = names.indexOf('mail')
  // The guard `mail` decides every sign-in, so the guards after it are never asked.
  return mail === -1 ? names : names.slice(0, mail + 1)
}
