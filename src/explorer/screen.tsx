// Renders a waiting message until the gateway sends its facts, and the pages from then on.
import './design/styles/tokens.css'
import './design/styles/base.css'
import './design/styles/controls.css'
import './design/styles/parts.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { browserStorage } from './design/browser-storage.ts'
import { currentTheme } from './design/theme.ts'
import { Toasts } from './design/toast.tsx'
import { PROBE_INTERVAL_MS } from './frame/connection.ts'
import { ErrorBoundary } from './frame/error-boundary.tsx'
import { clearStateOnUserChange } from './frame/navigation/for-one-person.ts'
import { createNavigation } from './frame/navigation/navigation.ts'
import type { Started } from './frame/start-up.ts'
import { ExplorerContext } from './frame/use-explorer.ts'
import { createRunHistory } from './rosetta/history/run-history.ts'
import { keepWrittenSignIn } from './sign-in/written-sign-in.ts'

// Set before the first render, so that the dark theme does not flash white.
document.documentElement.dataset.theme = currentTheme()

const root = createRoot(document.getElementById('root') ?? document.body)

export function showWaiting(reason: string): void {
  root.render(
    <main>
      <section className="card failure" role="alert">
        <h1>Waiting for the gateway</h1>
        <p>
          {reason} Trying again in {PROBE_INTERVAL_MS / 1_000} s.
        </p>
      </section>
    </main>,
  )
}

export function show(started: Started): void {
  const storage = browserStorage(() => sessionStorage)
  const explorer = {
    ...started,
    navigation: createNavigation(started.facts.basePath),
    leftLists: new Map<string, string>(),
    writtenHeaders: new Map(),
    unstored: new Map(),
    leftReferences: new Map(),
    leftSignIn: keepWrittenSignIn(storage, started.facts.basePath),
    openFiles: { current: null },
    searchedFiles: new Map(),
    history: createRunHistory(),
  }
  clearStateOnUserChange(started.session, started.facts, { ...explorer, storage })
  root.render(
    <StrictMode>
      <ExplorerContext value={explorer}>
        <Toasts>
          <ErrorBoundary>
            <App />
          </ErrorBoundary>
        </Toasts>
      </ExplorerContext>
    </StrictMode>,
  )
}
