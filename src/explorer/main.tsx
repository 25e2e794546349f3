// Starts the pages: the facts of this gateway, then the session, then the screen.
import './design/tokens.css'
import './design/base.css'
import './design/controls.css'
import './design/parts.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { createConnection } from './frame/connection.ts'
import { createNavigation } from './frame/navigation.ts'
import { startUp } from './frame/start-up.tsx'
import { ExplorerContext } from './frame/use-explorer.ts'
import { createSession } from './sign-in/session.ts'
import { openTabChannel } from './sign-in/tab-channel.ts'

const factsUrl = new URL('explorer.json', document.baseURI).href
const screen = createRoot(document.getElementById('root') ?? document.body)
const facts = await startUp(factsUrl, screen)
const connection = createConnection(fetch.bind(globalThis), factsUrl)
const session = createSession(facts, {
  fetchFrom: connection.fetch,
  storage: sessionStorage,
  openTabs: (messages) => openTabChannel(`workspace-gateway${facts.basePath}`, messages),
})
void session.start()

const explorer = {
  facts,
  session,
  connection,
  navigation: createNavigation(facts.basePath),
  scrolled: new Map<string, number>(),
}
screen.render(
  <StrictMode>
    <ExplorerContext value={explorer}>
      <App />
    </ExplorerContext>
  </StrictMode>,
)
