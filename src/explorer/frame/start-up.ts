// Sends the first requests: the gateway's facts, the session, the first page's data. It needs no code of the screen.
import type { ExplorerData } from '../../pages/explorer-config.ts'
import { browserStorage } from '../design/browser-storage.ts'
import { type FirstRun, prepareFirstRun } from '../rosetta/first-run.ts'
import { createSession, type Session } from '../sign-in/session/session.ts'
import { openTabChannel } from '../sign-in/session/tab-channel.ts'
import {
  type Connection,
  createConnection,
  fetchWithin,
  isRedirect,
  LATE_AFTER_MS,
  PROBE_INTERVAL_MS,
  REDIRECTED,
} from './connection.ts'

export interface Started {
  readonly facts: ExplorerData
  readonly connection: Connection
  readonly session: Session
  readonly firstRun: FirstRun
  /**
   * Resolves once the sign-in state is known, or after SETTLES_WITHIN_MS, so that the first render is the page itself.
   */
  readonly isSettled: Promise<void>
}

/** Maximum time that the window may stay empty. */
const SETTLES_WITHIN_MS = 60

/**
 * Resolves once the gateway has sent its facts. After each failed attempt it calls `onWait` with the reason and
 * retries.
 */
export async function start(factsUrl: string, onWait: (reason: string) => Promise<void>): Promise<Started> {
  const facts = await loadFacts(factsUrl, onWait)
  const connection = createConnection(fetch.bind(globalThis), factsUrl)
  const session = createSession(facts, {
    fetchFrom: connection.fetch,
    storage: browserStorage(() => sessionStorage),
    sharedStorage: browserStorage(() => localStorage),
    openTabs: (messages) => openTabChannel(`workspace-gateway${facts.basePath}`, messages),
    onLeave: (run) => addEventListener('pagehide', run),
    onBack: (run) => connection.subscribe(() => connection.state().isUp && run()),
  })
  const firstRun = prepareFirstRun(facts, session)
  const isSettled = settled(session)
  void session.start()
  return { facts, connection, session, firstRun, isSettled }
}

function settled(session: Session): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, SETTLES_WITHIN_MS)
    const stop = session.subscribe(() => {
      if (session.state().phase === 'starting') return
      stop()
      clearTimeout(timer)
      resolve()
    })
  })
}

async function loadFacts(url: string, onWait: (reason: string) => Promise<void>): Promise<ExplorerData> {
  for (;;) {
    const facts = await fetchWithin(LATE_AFTER_MS, fetch, url, { redirect: 'manual' }).then(
      readFacts,
      () => 'It could not be reached.',
    )
    if (typeof facts !== 'string') return facts
    await onWait(facts)
    await new Promise((resolve) => setTimeout(resolve, PROBE_INTERVAL_MS))
  }
}

/** Resolves to the facts, or to a sentence that says why there are none. */
async function readFacts(answer: Response): Promise<ExplorerData | string> {
  if (isRedirect(answer)) return REDIRECTED
  if (!answer.ok) return `It answered ${answer.status}.`
  return answer.json().then(
    (facts: ExplorerData) => facts,
    () => 'Something else answered in its place, such as a proxy.',
  )
}
