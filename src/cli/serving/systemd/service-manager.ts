// Talks to systemd: takes its socket (sd_listen_fds(3)), notifies it of state (sd_notify(3)), and pings its watchdog
// (sd_watchdog_enabled(3)).
import { execFile } from 'node:child_process'
import cluster from 'node:cluster'
import { UsageError } from '../../../errors.ts'

/** SD_LISTEN_FDS_START. */
const FIRST_FD = 3

/** Pings per watchdog timeout: two, as sd_watchdog_enabled(3) recommends. */
const PINGS_PER_WATCHDOG = 2

export interface ServiceManager {
  /** File descriptor of the inherited listening socket; null if there is none. */
  readonly listenFd: number | null
  /** Sends `READY=1`, `STOPPING=1` … to the service manager if it wants them. Does not wait for the result. */
  readonly notify: (state: string) => void
  /** Pings the watchdog from the event loop, at the interval of the service manager, until it is disposed of. */
  readonly startWatchdog: () => Disposable
}

export function readServiceManager(
  environment: Readonly<Record<string, string | undefined>>,
  onFailure: (error: unknown) => void,
): ServiceManager {
  // The variables name the process that they are for, because child processes inherit them. A worker shares the socket
  // of its supervisor.
  const pid = cluster.isWorker ? process.ppid : process.pid
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID } = environment
  // Only the supervisor notifies; it speaks for all workers.
  const canNotify = NOTIFY_SOCKET !== undefined && cluster.isPrimary

  /** Runs `systemd-notify`, because Node has no Unix datagram sockets. */
  function notify(state: string): void {
    if (!canNotify) return
    execFile('systemd-notify', [state], (error) => {
      if (error) onFailure(error)
    })
  }

  function startWatchdog(): Disposable {
    const isMeant = WATCHDOG_PID === undefined || Number(WATCHDOG_PID) === pid
    const intervalMs = canNotify && isMeant ? Number(WATCHDOG_USEC ?? 0) / 1_000 / PINGS_PER_WATCHDOG : 0
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
    throw new UsageError(`${LISTEN_FDS} sockets were inherited: give the socket unit only one ListenStream`)
  }
  return FIRST_FD
}
