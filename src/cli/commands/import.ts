// import: imports workspaces from NDJSON, directly, through POST /import, or from another server of the contract.
import { UsageError } from '../../errors.ts'
import { importFile } from '../import/import-file.ts'
import { openImportSource } from '../import/import-source.ts'
import { importRemotely } from '../import/remote-import.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { openActiveStore } from '../open-active-store.ts'
import { toStoreOptions } from '../open-store-for-cli.ts'
import type { ImportConfig } from '../options/import-options.ts'

/**
 * `stopSignal` is called when the import itself begins: from then on a signal aborts it instead of ending the process.
 * Throws `UsageError` for options that do not go together.
 */
export async function runImport(
  source: string,
  config: ImportConfig,
  io: CommandIo,
  stopSignal: () => AbortSignal,
): Promise<ExitCode> {
  requireCompatible(source, config)
  if (isFromServer(config)) {
    const { runServerImport } = await import('./move-in/import-server.ts')
    return runServerImport(source, config, io, stopSignal)
  }
  // The input is opened first: an unreadable input must not create a database. A dry run must not create one either.
  await using input = await openImportSource(source, io)
  // Awaited here and below because the file and the store are closed on return.
  if (config.to !== undefined) return await importRemotely(input, config, config.to, io)
  const isTrial = config.dryRun === true
  await using store = await openActiveStore({ ...config, isTrial }, { ...toStoreOptions(config), mustExist: isTrial })
  return await importFile({ source: input, config, store, io, stop: stopSignal() })
}

function isFromServer({ email, emails }: ImportConfig): boolean {
  return email !== undefined || emails !== undefined
}

/** Throws `UsageError` for options that do not go together, or not with this source. */
function requireCompatible(source: string, config: ImportConfig): void {
  const { replace, dryRun, verbose, keepGoing, to, verify, state } = config
  if (!replace && (dryRun || verbose)) throw new UsageError('--dry-run and --verbose need --replace')
  if (replace && keepGoing) {
    throw new UsageError('--keep-going cannot be used with --replace: nothing may be removed if a line is bad')
  }
  if (to !== undefined && (isFromServer(config) || keepGoing)) {
    throw new UsageError('--email, --emails and --keep-going cannot be used with --to')
  }
  if (!isFromServer(config)) {
    if (verify || state !== undefined) throw new UsageError('--verify and --state need --email or --emails')
    return
  }
  if (!/^https?:\/\//.test(source)) {
    throw new UsageError(
      '--email and --emails (WORKSPACE_GATEWAY_EMAIL, WORKSPACE_GATEWAY_EMAILS) go with the address of a server, http:// or https://, and not with a file',
    )
  }
  if (keepGoing || dryRun) throw new UsageError('--keep-going and --dry-run cannot be used with --email or --emails')
}
