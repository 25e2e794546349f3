// Hides page state in the addresses of a tab when another user signs in there, and clears what was typed to sign in.
import type { ExplorerData } from '../../../pages/explorer-config.ts'
import type { BrowserStorage } from '../../design/browser-storage.ts'
import type { Session } from '../../sign-in/session/session.ts'
import type { Navigation } from './navigation.ts'

interface Kept {
  /** The sessionStorage of this tab. */
  readonly storage: BrowserStorage
  readonly navigation: Navigation
  /** The address with which each list of the workspace was left. */
  readonly leftLists: Map<string, string>
  readonly leftSignIn: { current: unknown }
}

/** Must run before the first render, because the page of the next user reads the address. */
export function clearStateOnUserChange(
  session: Session,
  { demoEmail, basePath }: Pick<ExplorerData, 'demoEmail' | 'basePath'>,
  { storage, navigation, leftLists, leftSignIn }: Kept,
): void {
  const key = `workspace-gateway${basePath}:last-person`
  /** Email of the current or last user; it survives a reload, so the same user finds their pages as they left them. */
  let person = storage.getItem(key)
  let isFirst = true

  function look(): void {
    const { phase, email } = session.state()
    if (phase !== 'signed-in' || email === null) return
    leftSignIn.current = null
    const before = person
    // A shared link stays open for its visitor: at the first sign-in after the page load, and when replacing the demo
    // user.
    const opened = isFirst || before === demoEmail ? navigation.opened() : null
    const isAnother = before !== null && email !== before
    isFirst = false
    if (email !== before) {
      person = email
      storage.setItem(key, email)
    }
    if (isAnother) leftLists.clear()
    navigation.belongTo(email, isAnother, opened)
  }

  look()
  session.subscribe(look)
}
