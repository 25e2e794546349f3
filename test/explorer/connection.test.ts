// Tests when the pages take the gateway for unreachable. Time stands still except for what a test lets pass.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createConnection, LATE_AFTER_MS } from '../../src/explorer/frame/connection.ts'

const PROBE = '/explorer.json'
const MINUTE_MS = 60_000

describe('the connection of the pages', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('is lost when the gateway hangs, and is back as soon as it answers again', async () => {
    const gateway = hangingGateway()
    const connection = createConnection(gateway.fetch, PROBE)
    gateway.hang('/graphql', PROBE)
    const answered = connection.fetch('/graphql')
    await vi.advanceTimersByTimeAsync(MINUTE_MS)
    expect(connection.state()).toEqual({ isUp: false, isRedirected: false, timesBack: 0 })
    gateway.goOn()
    await vi.advanceTimersByTimeAsync(MINUTE_MS)
    expect((await answered).status).toBe(200)
    expect(connection.state()).toEqual({ isUp: true, isRedirected: false, timesBack: 1 })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is lost when the gateway hangs only after it has answered that it is there', async () => {
    const gateway = hangingGateway()
    const connection = createConnection(gateway.fetch, PROBE)
    gateway.hang('/graphql')
    const answered = connection.fetch('/graphql')
    await vi.advanceTimersByTimeAsync(MINUTE_MS)
    expect(connection.state().isUp).toBe(true)
    gateway.hang(PROBE)
    await vi.advanceTimersByTimeAsync(MINUTE_MS)
    expect(connection.state().isUp).toBe(false)
    gateway.goOn()
    await vi.advanceTimersByTimeAsync(MINUTE_MS)
    expect((await answered).status).toBe(200)
    expect(connection.state()).toEqual({ isUp: true, isRedirected: false, timesBack: 1 })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is back once, although the answer to an older probe was lost', async () => {
    const gateway = hangingGateway()
    const connection = createConnection(gateway.fetch, PROBE)
    const isUp: boolean[] = []
    connection.subscribe(() => isUp.push(connection.state().isUp))
    gateway.hang('/graphql', PROBE)
    void connection.fetch('/graphql')
    await vi.advanceTimersByTimeAsync(LATE_AFTER_MS + MINUTE_MS)
    gateway.goOnWithoutThese()
    await vi.advanceTimersByTimeAsync(MINUTE_MS)
    expect(isUp).toEqual([false, true])
  })

  test('is lost when the code of a page does not arrive because the gateway hangs', async () => {
    const gateway = hangingGateway()
    const connection = createConnection(gateway.fetch, PROBE)
    gateway.hang(PROBE)
    void connection.watch(new Promise(() => {}))
    await vi.advanceTimersByTimeAsync(MINUTE_MS)
    expect(connection.state().isUp).toBe(false)
  })

  test('lasts while a single request takes long and the gateway answers others', async () => {
    const gateway = hangingGateway()
    const connection = createConnection(gateway.fetch, PROBE)
    const isUp: boolean[] = []
    connection.subscribe(() => isUp.push(connection.state().isUp))
    gateway.hang('/graphql')
    void connection.fetch('/graphql')
    await vi.advanceTimersByTimeAsync(MINUTE_MS)
    expect(isUp).toEqual([])
    const probes = Array.from({ length: MINUTE_MS / LATE_AFTER_MS }, () => PROBE)
    expect(gateway.asked()).toEqual(['/graphql', ...probes])
  })

  test('lasts when a page gives a request up that it has waited for', async () => {
    const gateway = hangingGateway()
    const connection = createConnection(gateway.fetch, PROBE)
    gateway.hang('/graphql', PROBE)
    const leaving = new AbortController()
    const given = connection.fetch('/graphql', { signal: leaving.signal })
    leaving.abort()
    await expect(given).rejects.toMatchObject({ name: 'AbortError' })
    await vi.advanceTimersByTimeAsync(MINUTE_MS)
    expect(connection.state()).toEqual({ isUp: true, isRedirected: false, timesBack: 0 })
    expect(gateway.asked()).toEqual(['/graphql'])
  })
})

interface HangingGateway {
  readonly fetch: typeof fetch
  /** Requests for these paths get no answer until `goOn`. */
  readonly hang: (...paths: readonly string[]) => void
  readonly goOn: () => void
  /** The same, but the requests that hang now never get an answer. */
  readonly goOnWithoutThese: () => void
  /** The paths of all requests, in order. */
  readonly asked: () => readonly string[]
}

function hangingGateway(): HangingGateway {
  const asked: string[] = []
  const hanging = new Set<string>()
  let waiting = Promise.withResolvers<void>()

  function goOnWithoutThese(): void {
    hanging.clear()
    waiting = Promise.withResolvers<void>()
  }

  return {
    async fetch(input, { signal } = {}) {
      const path = String(input)
      asked.push(path)
      if (hanging.has(path)) await Promise.race([waiting.promise, signal && abortOf(signal)].filter(Boolean))
      return new Response()
    },
    hang(...paths) {
      for (const path of paths) hanging.add(path)
    },
    goOn() {
      waiting.resolve()
      goOnWithoutThese()
    },
    goOnWithoutThese,
    asked: () => asked,
  }
}

/** Rejects when the signal is aborted. */
function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}
