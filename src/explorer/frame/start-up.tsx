// The first thing asked of the gateway: its facts. Until they come, the page says what it waits for.
import type { Root } from 'react-dom/client'
import type { ExplorerData } from '../../pages/explorer-config.ts'
import { PROBE_INTERVAL_MS } from './connection.ts'

/** Resolves once the gateway has answered with its facts. */
export async function startUp(url: string, screen: Root): Promise<ExplorerData> {
  for (;;) {
    const reason = await fetch(url).then(
      async (answer) => (answer.ok ? ((await answer.json()) as ExplorerData) : `It answered ${answer.status}.`),
      () => 'It could not be reached.',
    )
    if (typeof reason !== 'string') return reason
    screen.render(
      <main className="card failure" role="alert">
        <h1>The gateway does not answer</h1>
        <p>
          {reason} Trying again in {PROBE_INTERVAL_MS / 1_000} s.
        </p>
      </main>,
    )
    await new Promise((resolve) => setTimeout(resolve, PROBE_INTERVAL_MS))
  }
}
