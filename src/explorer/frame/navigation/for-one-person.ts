// What one person wrote into the addresses of the pages is not shown to the next one who signs in, in the same tab.
import type { ExplorerData } from '../../../pages/explorer-config.ts'
import type { BrowserStorage } from '../../design/browser-storage.ts'
import type { Session } from '../../sign-in/session/session.ts'
import type { Navigation } from './navigation.ts'

interface Kept {
  /** Of this tab. */
  readonly storage: BrowserStorage
  readonly navigation: Navigation
  /** Of the workspace. */
  readonly leftLists: Map<string, string>
}

/** Before anything is drawn: the page that the next person is shown reads the address. */
export function forgetBetweenPersons(
  session: Session,
  { demoEmail, basePath }: Pick<ExplorerData, 'demoEmail' | 'basePath'>,
  { storage, navigation, leftLists }: Kept,
): void {
  const key = `workspace-gateway${basePath}:last-person`
  /** Who is signed in, or was last, also before a reload: the same person finds their pages as they left them. */
  let person = storage.getItem(key)
  let isFirst = true

  function look(): void {
    const { phase, email } = session.state()
    if (phase !== 'signed-in' || email === null) return
    const before = person
    // Who opens a shared link, in the demo or where somebody else was before, signs in to see what it is about.
    const opened = isFirst || before === demoEmail ? navigation.opened() : null
    isFirst = false
    if (email === before) return
    person = email
    storage.setItem(key, email)
    if (before === null) return
    leftLists.clear()
    navigation.startAnew(opened ?? navigation.place().path)
  }

  look()
  session.subscribe(look)
}
