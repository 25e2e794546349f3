// What one person wrote into the addresses of the pages is not shown to the next one who signs in, in the same tab.
import type { Session } from '../../sign-in/session.ts'
import type { Navigation } from './navigation.ts'

interface Kept {
  readonly navigation: Navigation
  /** Of the workspace. */
  readonly leftLists: Map<string, string>
}

/** Before anything is drawn: the page that the next person is shown reads the address. */
export function forgetBetweenPersons(
  session: Session,
  demoEmail: string | null,
  { navigation, leftLists }: Kept,
): void {
  /** Who is signed in, or was last: the same person finds their pages as they left them. */
  let person: string | null = null

  function look(): void {
    const { phase, email } = session.state()
    if (phase !== 'signed-in' || email === person) return
    const before = person
    person = email
    if (before === null) return
    leftLists.clear()
    // Who opens a shared link in the demo signs in to see what it is about.
    const opened = before === demoEmail ? navigation.opened() : null
    navigation.startAnew(opened ?? navigation.place().path)
  }

  look()
  session.subscribe(look)
}
