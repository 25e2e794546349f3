// The first things asked of the gateway: its facts, and a session. Nothing here needs the code of the screen.
import type { ExplorerData } from '../../pages/explorer-config.ts'
import { createSession, type Session } from '../sign-in/session.ts'
import { openTabChannel } from '../sign-in/tab-channel.ts'
import { type Connection, createConnection, PROBE_INTERVAL_MS } from './connection.ts'

export interface Started {
  readonly facts: ExplorerData
  readonly connection: Connection
  readonly session: Session
}

/** Resolves once the gateway has answered with its facts; until then `onWait` is told why it has not. */
export async function start(factsUrl: string, onWait: (reason: string) => void): Promise<Started> {
  const facts = await loadFacts(factsUrl, onWait)
  const connection = createConnection(fetch.bind(globalThis), factsUrl)
  const session = createSession(facts, {
    fetchFrom: connection.fetch,
    storage: sessionStorage,
    openTabs: (messages) => openTabChannel(`workspace-gateway${facts.basePath}`, messages),
  })
  void session.start()
  return { facts, connection, session }
}

async function loadFacts(url: string, onWait: (reason: string) => void): Promise<ExplorerData> {
  for (;;) {
    const reason = await fetch(url).then(
      async (answer) => (answer.ok ? ((await answer.json()) as ExplorerData) : `It answered ${answer.status}.`),
      () => 'It could not be reached.',
    )
    if (typeof reason !== 'string') return reason
    onWait(reason)
    await new Promise((resolve) => setTimeout(resolve, PROBE_INTERVAL_MS))
  }
}
