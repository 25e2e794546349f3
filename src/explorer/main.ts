// Starts the pages. The sign-in begins while the browser still fetches and reads the code of the screen.
import { start } from './frame/start-up.ts'

const screen = import('./screen.tsx')
screen.catch(() => {
  const root = document.getElementById('root')
  if (root) root.textContent = 'The gateway does not answer. Reload this page in a moment.'
})

const factsUrl = new URL('explorer.json', document.baseURI).href
const started = await start(factsUrl, (reason) => void screen.then(({ showWaiting }) => showWaiting(reason)))
;(await screen).show(started)
