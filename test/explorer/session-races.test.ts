// What happens in several tabs at once, without a browser: whose request is sent, whose session holds, and that a sign-out stays one.
import { describe, expect, test, vi } from 'vitest'
import { emailOf, type FakeBrowser, fakeBrowser, settled, started, type Tab } from '../support/fake-browser.ts'
import { ANA, BEN } from '../support/workspaces.ts'

describe('a request of one person is not sent as the next one', () => {
  async function tabsOfAna(): Promise<FakeBrowser & { readonly ana: Tab; readonly other: Tab }> {
    const browser = fakeBrowser({ demoEmail: null })
    const [ana, other] = [await started(browser.open()), await started(browser.open())]
    await ana.session.signIn(ANA)
    await settled()
    return { ...browser, ana, other }
  }

  test('who signs in while its token is renewed', async () => {
    const { ana, other, holdAnswers, readers } = await tabsOfAna()
    // Timers do not run while a machine sleeps.
    vi.setSystemTime(Date.now() + 3_600_000)
    const release = holdAnswers('/token')
    const sending = expect(ana.session.send('/graphql', { method: 'POST' })).rejects.toThrow('Somebody else')
    await other.session.signIn(BEN)
    await settled()
    expect(emailOf(ana)).toBe(BEN)
    release()
    await sending
    expect(readers).toEqual([])
  })

  test.each(['/graphql', '/token'])('who signs in before it was answered 401, and renewed (%s)', async (late) => {
    const { ana, other, holdAnswers, readers, refused } = await tabsOfAna()
    refused.add(ANA)
    const release = holdAnswers(late)
    const sending = ana.session.send('/graphql', { method: 'POST' })
    await settled()
    await other.session.signIn(BEN)
    await settled()
    expect(emailOf(ana)).toBe(BEN)
    release()
    expect((await sending).status).toBe(401)
    expect(readers).toEqual([ANA])
  })
})
