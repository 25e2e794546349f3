// Checks the configuration and the resources of the gateway: whether it starts, login guards, limits, memory, secret
// files, signing keys, backups.
import { statSync } from 'node:fs'
import { totalmem } from 'node:os'
import { UsageError } from '../../../errors.ts'
import { attemptsPerMinute, isThisMachineOnly } from '../../login-exposure.ts'
import { openFilesLimit } from '../../serving/open-files.ts'
import { withoutWrites } from '../../serving/read-only.ts'
import { planServe } from '../../serving/serve-plan.ts'
import { workerCount } from '../../workers/worker-count.ts'
import { type Check, MAIL_GUARD, type Verdict } from '../check.ts'
import { shellWords } from '../shell-words.ts'
import { backups } from './backup-check.ts'
import type { Inside } from './context.ts'
import { holdsSecret } from './secret-values.ts'

const GROUP_AND_OTHERS = 0o077
const OTHERS = 0o007
const ROOT = 0
const MIN_FILES = 4_096

export const CONFIGURATION_CHECKS: readonly Check<Inside>[] = [
  { name: 'configuration', run: configuration },
  { name: 'login-guard', run: loginGuard },
  { name: 'rate-limits', run: rateLimits },
  { name: 'open-files', run: openFiles },
  { name: 'memory', run: memory },
  { name: 'secret-files', run: secretFiles },
  { name: 'signing-keys', run: signingKeys },
  { name: 'backups', run: backups },
]

async function configuration({ config, environment, recommend }: Inside): Promise<Verdict> {
  try {
    await planServe(config, environment)
    return null
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return {
      problem: `the gateway does not start: ${error.message.split('\n')[0]}`,
      // It names every problem, each with the options that help.
      fix: { run: recommend('config check') },
    }
  }
}

function loginGuard({ config: asked }: Inside): Verdict {
  const config = withoutWrites(asked)
  if (config.loginGuard.includes('open')) {
    return {
      problem: 'the login guard is open: anyone who reaches the gateway can sign in as anyone',
      fix: { gateway: MAIL_GUARD },
    }
  }
  const isLocalOnly = config.loginGuard.every((name) => name === 'local')
  if (!isLocalOnly || config.trustedProxy.length === 0) return null
  return {
    problem: 'the login guard is local: nobody behind --trusted-proxy can sign in',
    fix: { gateway: MAIL_GUARD },
  }
}

function rateLimits({ config }: Inside): Verdict {
  const limit = attemptsPerMinute(config)
  if (limit !== null && (limit > 0 || isThisMachineOnly(config))) return null
  return {
    problem: 'there is no limit on sign-in attempts',
    fix: { gateway: limit === null ? '--rate-limits on' : '--attempts-per-minute 600' },
  }
}

function openFiles(): Verdict {
  if (process.platform !== 'linux') return { reason: 'the limit is read on Linux only' }
  const limit = openFilesLimit()
  if (limit === null || limit >= MIN_FILES) return null
  return {
    problem: `a process of this user may have only ${limit} open files, and each connection counts as one: more clients are refused`,
    fix: { run: 'LimitNOFILE=65536 in the systemd unit, or ulimit -n 65536' },
  }
}

function memory({ config }: Inside): Verdict {
  const workers = workerCount(config)
  const available = availableBytes()
  const wanted = workers * (config.inFlightBytes + config.cacheBytes)
  if (wanted <= available * 0.8) return null
  return {
    problem: `large answers and the reply cache may use ${mebibytes(wanted)} MiB, but this process may use only ${mebibytes(available)} MiB`,
    fix: {
      gateway: `--in-flight-bytes ${Math.floor((available * 0.3) / workers)} --cache-bytes ${Math.floor((available * 0.2) / workers)}`,
    },
  }
}

function secretFiles({ config }: Inside): Verdict {
  const file = config.config !== undefined && holdsSecret(config.config) ? config.config : undefined
  const paths = [config.keyEncryptionKeyFile, config.importTokenFile, config.shadowHeaders, file].flatMap(
    (path) => path ?? [],
  )
  const open = paths.filter(isOpen)
  if (open.length === 0) return null
  const [own, foreign] = [open.filter(isOwn), open.filter((path) => !isOwn(path))]
  const commands = [
    own.length > 0 && `chmod 600 ${shellWords(...own)}`,
    // With 600 the gateway could not read them.
    foreign.length > 0 && `chgrp ${process.getgid?.()} ${shellWords(...foreign)}`,
    foreign.length > 0 && `chmod 640 ${shellWords(...foreign)}`,
  ].filter((command) => command !== false)
  return {
    problem: `other users of this machine can read a secret: ${open.join(' ')}`,
    fix: { run: commands.join(' && ') },
  }
}

/** Whether other users can read the file. If it belongs to another user, its group may: the gateway is in that group. */
function isOpen(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) return false
  const isThroughGroup = !isOwn(path) && [process.getegid?.(), ...(process.getgroups?.() ?? [])].includes(found.gid)
  return (found.mode & (isThroughGroup ? OTHERS : GROUP_AND_OTHERS)) !== 0
}

/** Whether the file belongs to the user of the gateway, as whom the doctor runs. Root is not asked to give files away. */
function isOwn(path: string): boolean {
  return [ROOT, statSync(path).uid].includes(process.getuid?.() ?? ROOT)
}

function signingKeys({ keys, config, recommend }: Inside): Verdict {
  if ('reason' in keys) return keys
  if ('error' in keys) {
    if (keys.isOfDatabase) return { reason: 'the database cannot be used' }
    return {
      problem: `the signing keys cannot be used: ${keys.error}`,
      fix:
        keys.run === undefined
          ? { gateway: keys.gateway ?? '--key-encryption-key-file /etc/workspace-gateway/key' }
          : { run: keys.run },
    }
  }
  const hasSecret = config.keyEncryptionKey !== undefined || config.keyEncryptionKeyFile !== undefined
  if (!hasSecret || keys.areAllSealed) return null
  return {
    problem: 'signing keys are stored unencrypted although an encryption key is given',
    fix: { run: recommend('keys encrypt') },
  }
}

/** Memory in bytes. Without a limit for the process, `constrainedMemory` is 0 or more than any machine has. */
function availableBytes(): number {
  const limit = process.constrainedMemory()
  return limit === 0 ? totalmem() : Math.min(limit, totalmem())
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / 1_048_576)
}
