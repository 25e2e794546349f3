// Starts the pages. The sign-in goes first: the code of the screen is here by then, and is run while the gateway answers.
import { start } from './frame/start-up.ts'

async function showPages(): Promise<void> {
  const factsUrl = new URL('explorer.json', document.baseURI).href
  const started = await start(factsUrl, async (reason) => (await loadScreen()).showWaiting(reason))
  const { show } = await loadScreen()
  await started.isSettled
  show(started)
}

function loadScreen(): Promise<typeof import('./screen.tsx')> {
  return import('./screen.tsx').catch((cause) => {
    throw new Error('The gateway does not answer.', { cause })
  })
}

try {
  await showPages()
} catch (error) {
  const root = document.getElementById('root')
  const reason = error instanceof Error ? error.message : String(error)
  // There may be no screen to say it.
  if (root) root.textContent = `These pages could not be started. ${reason} Reload this page in a moment.`
  throw error
}
