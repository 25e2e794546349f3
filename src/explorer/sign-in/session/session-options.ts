// What a session needs of the browser: requests, storage, other tabs, and the events of its page.
import type { BrowserStorage } from '../../design/browser-storage.ts'
import type { TabChannel, TabMessages } from './tab-channel.ts'

export interface SessionOptions {
  readonly fetchFrom: typeof fetch
  /** The sessionStorage of this tab. */
  readonly storage: BrowserStorage
  /** The localStorage that all tabs share. */
  readonly sharedStorage: BrowserStorage
  readonly openTabs: (messages: TabMessages) => TabChannel
  /** Registers a callback for when the page is left: by a reload, another address, or closing the window. */
  readonly onLeave: (run: () => void) => void
  /** Registers a callback that runs each time the gateway is reachable again. */
  readonly onBack: (run: () => void) => void
}
