// Starts the pages. The sign-in goes first: the code of the screen is here by then, and is run while the gateway answers.
import { start } from './frame/start-up.ts'

async function loadScreen(): Promise<typeof import('./screen.tsx')> {
  try {
    return await import('./screen.tsx')
  } catch (error) {
    const root = document.getElementById('root')
    if (root) root.textContent = 'The gateway does not answer. Reload this page in a moment.'
    throw error
  }
}

const factsUrl = new URL('explorer.json', document.baseURI).href
const started = await start(factsUrl, async (reason) => (await loadScreen()).showWaiting(reason))
const { show } = await loadScreen()
await started.isSettled
show(started)
