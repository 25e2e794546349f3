// What systemd hands over when it starts the gateway, and what it wants to be told: sd_listen_fds(3), sd_notify(3), sd_watchdog_enabled(3).
import { execFile } from 'node:child_process'
import cluster from 'node:cluster'
import { UsageError } from '../../../errors.ts'

/** SD_LISTEN_FDS_START. */
const FIRST_FD = 3

/** Twice within the time after which systemd takes the process for hung, as sd_watchdog_enabled(3) recommends. */
const PINGS_PER_WATCHDOG = 2

export interface ServiceManager {
  /** The listening socket that was handed over; null where none was. */
  readonly listenFd: number | null
  /** `READY=1`, `STOPPING=1` … to the service manager, where it asks for them. Nothing waits for it. */
  readonly notify: (state: string) => void
  /** Keeps saying that the event loop turns, as often as the service manager wants to hear it. Disposed of: no more. */
  readonly startWatchdog: () => Disposable
}

export function readServiceManager(
  environment: Readonly<Record<string, string | undefined>>,
  onFailure: (error: unknown) => void,
): ServiceManager {
  // What was meant for another process is inherited, and none of this one's business; a worker shares its supervisor's socket.
  const pid = cluster.isWorker ? process.ppid : process.pid
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID } = environment
  // A worker has nobody to tell: its supervisor stands for all.
  const isHeard = NOTIFY_SOCKET !== undefined && cluster.isPrimary

  /** Node has no datagrams of Unix sockets: the program that comes with systemd has. */
  function notify(state: string): void {
    if (!isHeard) return
    execFile('systemd-notify', [state], (error) => {
      if (error) onFailure(error)
    })
  }

  function startWatchdog(): Disposable {
    const isMeant = WATCHDOG_PID === undefined || Number(WATCHDOG_PID) === pid
    const intervalMs = isHeard && isMeant ? Number(WATCHDOG_USEC ?? 0) / 1_000 / PINGS_PER_WATCHDOG : 0
    if (!(intervalMs > 0)) return { [Symbol.dispose]() {} }
    const timer = setInterval(() => notify('WATCHDOG=1'), intervalMs)
    timer.unref()
    return { [Symbol.dispose]: () => clearInterval(timer) }
  }

  return { listenFd: readListenFd(environment, pid), notify, startWatchdog }
}

function readListenFd(
  { LISTEN_FDS, LISTEN_PID }: Readonly<Record<string, string | undefined>>,
  pid: number,
): number | null {
  if (LISTEN_FDS === undefined || Number(LISTEN_PID) !== pid) return null
  if (LISTEN_FDS !== '1') {
    throw new UsageError(`${LISTEN_FDS} sockets were handed over: give the socket unit one ListenStream`)
  }
  return FIRST_FD
}
