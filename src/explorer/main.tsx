// Starts the pages: the facts of this gateway, then the session, then the screen.
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import type { ExplorerData } from '../pages/explorer-config.ts'
import { App } from './app.tsx'
import { createSession } from './session.ts'
import { ExplorerContext } from './use-explorer.ts'
import './styles/base.css'
import './styles/parts.css'

const answer = await fetch(new URL('explorer.json', document.baseURI))
const facts = (await answer.json()) as ExplorerData
const session = createSession(facts, fetch.bind(globalThis), sessionStorage)
void session.start()

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <ExplorerContext value={{ facts, session }}>
        <App />
      </ExplorerContext>
    </StrictMode>,
  )
}
