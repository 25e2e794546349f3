// Entry point. It signs in first; the code of the screen is loaded meanwhile, and evaluated while the gateway answers.
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
  // The screen, which normally shows errors, may not have loaded.
  if (root) root.textContent = `These pages could not be started. ${reason} Reload this page in a moment.`
  throw error
}
