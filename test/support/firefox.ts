// Drives the installed Firefox over WebDriver BiDi (https://www.w3.org/TR/webdriver-bidi/), as far as a walk through
// the pages needs it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeAll, expect } from 'vitest'
import { makeDirectory, removeDirectory } from './temporary-directory.ts'

const PLACES = ['/usr/bin/firefox-esr', '/usr/bin/firefox']

export const FIREFOX = PLACES.find((path) => existsSync(path))
if (FIREFOX === undefined) {
  console.warn(`skipped: the walk in Firefox needs it (Debian: apt-get install firefox-esr) at ${PLACES.join(' or ')}`)
}

/** Requests to other machines go to a proxy port where nobody listens. */
const PREFERENCES = {
  'network.proxy.type': 1,
  'network.proxy.http': '127.0.0.1',
  'network.proxy.http_port': 1,
  'network.proxy.ssl': '127.0.0.1',
  'network.proxy.ssl_port': 1,
  'browser.shell.checkDefaultBrowser': false,
  // No page of its own at the start, and no process kept ready for a next one: both take processor time.
  'browser.startup.page': 0,
  'browser.newtab.preload': false,
  'browser.aboutwelcome.enabled': false,
  'dom.ipc.processPrelaunch.enabled': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'datareporting.policy.dataSubmissionEnabled': false,
  'remote.active-protocols': 1,
}

export interface FirefoxTab {
  readonly open: (url: string) => Promise<void>
  /** Evaluates an expression in the page and returns the value as text. */
  readonly read: (expression: string) => Promise<string>
  /** Waits until an expression is true in the page. */
  readonly until: (expression: string) => Promise<void>
  /** The errors of pages and the requests since the last call. */
  readonly seen: () => { readonly errors: readonly string[]; readonly requests: readonly string[] }
}

interface Message {
  readonly id?: number
  readonly error?: string
  readonly message?: string
  readonly method?: string
  readonly result?: { readonly context?: string; readonly result?: { readonly value?: unknown } }
  readonly params?: {
    readonly level?: string
    readonly text?: string
    readonly request?: { readonly url: string }
  }
}

/** Starts one Firefox for all tests of the surrounding `describe`; `preferences` are what its user has set. */
export function shareFirefox(preferences: Readonly<Record<string, string | number>> = {}): () => FirefoxTab {
  let tab: FirefoxTab | null = null
  beforeAll(async () => {
    const profile = makeDirectory()
    const lines = Object.entries({ ...PREFERENCES, ...preferences }).map(
      ([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});`,
    )
    writeFileSync(join(profile, 'user.js'), lines.join('\n'))
    const args = ['--headless', '--no-remote', '--remote-debugging-port', '0', '--profile', profile]
    const child = spawn(FIREFOX ?? '', args, { stdio: ['ignore', 'ignore', 'pipe'] })
    for await (const line of createInterface(child.stderr)) {
      const address = /listening on (ws:\S+)/.exec(line)?.[1]
      if (address === undefined) continue
      tab = await openTab(`${address}/session`)
      break
    }
    child.stderr.resume()
    return async () => {
      child.kill('SIGKILL')
      await once(child, 'close')
      removeDirectory(profile)
    }
  })
  return () => {
    if (tab === null) throw new Error('Firefox is not started')
    return tab
  }
}

async function openTab(address: string): Promise<FirefoxTab> {
  const socket = new WebSocket(address)
  const waiting = new Map<number, (message: Message) => void>()
  let errors: string[] = []
  let requests: string[] = []
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message
    if (message.id !== undefined) waiting.get(message.id)?.(message)
    if (message.params?.level === 'error') errors.push(message.params.text ?? '')
    if (message.params?.request) requests.push(message.params.request.url)
  })
  await once(socket, 'open')

  async function send(method: string, params: object): Promise<NonNullable<Message['result']>> {
    const id = waiting.size + 1
    const answered = new Promise<Message>((resolve) => waiting.set(id, resolve))
    socket.send(JSON.stringify({ id, method, params }))
    const { error, message, result = {} } = await answered
    if (error !== undefined) throw new Error(`${method}: ${error} ${message}`)
    return result
  }

  await send('session.new', { capabilities: {} })
  await send('session.subscribe', { events: ['log.entryAdded', 'network.beforeRequestSent'] })
  const { context } = await send('browsingContext.create', { type: 'tab' })
  const target = { context }

  async function read(expression: string): Promise<string> {
    const { result } = await send('script.evaluate', {
      expression: `String(${expression})`,
      target,
      awaitPromise: true,
    })
    return String(result?.value)
  }

  return {
    read,
    async open(url) {
      await send('browsingContext.navigate', { context, url, wait: 'interactive' })
    },
    until: (expression) => expect.poll(() => read(expression), { interval: 100 }).toBe('true'),
    seen() {
      const noted = { errors, requests }
      errors = []
      requests = []
      return noted
    },
  }
}
