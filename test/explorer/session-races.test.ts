// Tests races between tabs, without a browser: as whom a request is sent, which session wins, whether a sign-out lasts.
import { describe, expect, test, vi } from 'vitest'
import { DEMO, emailOf, type FakeBrowser, fakeBrowser, settled, started, type Tab } from '../support/fake-browser.ts'
import { ANA, BEN } from '../support/workspaces.ts'

describe('a request of one user', () => {
  async function tabsOfAna(): Promise<FakeBrowser & { readonly ana: Tab; readonly other: Tab }> {
    const browser = fakeBrowser({ demoEmail: null })
    const [ana, other] = [await started(browser.open()), await started(browser.open())]
    await ana.session.signIn(ANA)
    await settled()
    return { ...browser, ana, other }
  }

  test('is not sent as another user who signs in while its token is renewed', async () => {
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

  test.each(['/graphql', '/token'])('is not repeated as a user who signs in meanwhile (late: %s)', async (late) => {
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

describe('sign-ins in two tabs', () => {
  /** The answers to both sign-ins arrive at the same moment. */
  async function signedInAtOnce(
    first: string,
    second: string,
  ): Promise<FakeBrowser & { readonly tabs: readonly Tab[] }> {
    const browser = fakeBrowser({ demoEmail: null })
    const tabs = [await started(browser.open()), await started(browser.open())] as const
    const release = browser.holdAnswers('/login')
    const signingIn = [tabs[0].session.signIn(first), tabs[1].session.signIn(second)]
    release()
    await Promise.all(signingIn)
    await settled()
    return { ...browser, tabs }
  }

  test.each([
    [ANA, BEN],
    [BEN, ANA],
    [ANA, ANA],
  ])('at the same moment leave one session for both tabs and end the other (%s, %s)', async (first, second) => {
    const { tabs, live, calls } = await signedInAtOnce(first, second)
    const [email] = live()
    expect(live()).toEqual([email])
    expect(tabs.map(emailOf)).toEqual([email, email])
    // The result is stable in both tabs.
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(tabs.map(emailOf)).toEqual([email, email])
    expect(calls.filter((path) => path === '/logout')).toHaveLength(1)
  })

  test('leave the later session, even if its tab hears of the earlier one late', async () => {
    const { open, live } = fakeBrowser({ demoEmail: null })
    const [ana, ben] = [await started(open()), await started(open())]
    ben.setBusy(true)
    await ana.session.signIn(ANA)
    await vi.advanceTimersByTimeAsync(5)
    await ben.session.signIn(BEN)
    await settled()
    ben.setBusy(false)
    await settled()
    expect([ana, ben].map(emailOf)).toEqual([BEN, BEN])
    expect(live()).toEqual([BEN])
  })

  test('leave the later session, even if a tab renews the token of the earlier one meanwhile', async () => {
    const { open } = fakeBrowser({ demoEmail: null })
    const ana = await started(open())
    await ana.session.signIn(ANA)
    ana.setBusy(true)
    await vi.advanceTimersByTimeAsync(600_000)
    // The busy tab does not answer, so the new tab has no user.
    const other = await started(open())
    await other.session.signIn(BEN)
    // Meanwhile the busy tab renews Ana's token, because it has not heard of Ben's sign-in yet.
    await vi.advanceTimersByTimeAsync(300_000)
    ana.setBusy(false)
    await settled()
    expect([ana, other].map(emailOf)).toEqual([BEN, BEN])
  })
})

describe('a sign-out', () => {
  test.each(['the same tab', 'another tab'])('is not undone by a sign-in in flight in %s', async (where) => {
    const { open, holdAnswers, live } = fakeBrowser({ demoEmail: null })
    const [tab, other] = [await started(open()), await started(open())]
    await tab.session.signIn(ANA)
    await settled()
    const release = holdAnswers('/login')
    const signingIn = expect(tab.session.signIn(BEN)).rejects.toThrow('signed out')
    await (where === 'the same tab' ? tab : other).session.signOut()
    await settled()
    release()
    await signingIn
    await settled()
    expect([tab, other].map(emailOf)).toEqual([null, null])
    expect(live()).toEqual([])
  })

  test("is not undone by the demo user's sign-in in a tab that is opening", async () => {
    const { open, holdAnswers, live } = fakeBrowser()
    const demo = await started(open())
    demo.setBusy(true)
    const release = holdAnswers('/token')
    const opened = open()
    const starting = started(opened)
    await vi.advanceTimersByTimeAsync(1_000)
    demo.drop()
    await demo.session.signOut()
    await settled()
    release()
    await starting
    expect(opened.session.state()).toMatchObject({
      phase: 'signed-out',
      message: { text: 'You signed out in another tab.', isFailure: false },
    })
    expect(live()).toEqual([])
    // A reload does not undo it either.
    opened.close()
    expect(emailOf(await started(open(opened.storage)))).toBeNull()
  })

  test("does not stop another user's sign-in in a tab with a session of its own", async () => {
    const { open, holdAnswers, live } = fakeBrowser()
    const ana = await started(open())
    await ana.session.signIn(ANA)
    ana.setBusy(true)
    const release = holdAnswers('/token')
    const opened = open()
    const starting = started(opened)
    await vi.advanceTimersByTimeAsync(1_000)
    ana.drop()
    await ana.session.signOut()
    await settled()
    release()
    await starting
    expect([ana, opened].map(emailOf)).toEqual([null, DEMO])
    expect(live()).toEqual([DEMO])
  })
})

test('a session that one tab finds ended ends in all tabs that hold it; a sign-in in flight goes on', async () => {
  const { open, endAll, refused, holdAnswers, calls } = fakeBrowser()
  const tabs = [await started(open()), await started(open()), await started(open())] as const
  await tabs[0].session.signIn(ANA)
  await settled()
  endAll(ANA)
  refused.add(ANA)
  const release = holdAnswers('/login')
  const signingIn = tabs[2].session.signIn(ANA)
  expect((await tabs[0].session.send('/graphql')).status).toBe(401)
  await settled()
  const ended = { phase: 'signed-out', message: { text: 'Your session has ended: sign in again.', isFailure: false } }
  expect(tabs.map(({ session }) => session.state())).toMatchObject([ended, ended, ended])
  expect(calls.filter((path) => path === '/logout')).toEqual([])
  release()
  await signingIn
  await settled()
  expect(tabs.map(emailOf)).toEqual([ANA, ANA, ANA])
})

describe('no demo session is left over', () => {
  test('after the sign-out of three tabs that were opened at once', async () => {
    const { open, holdAnswers, live } = fakeBrowser()
    const tabs = [open(), open(), open()] as const
    const release = holdAnswers('/login')
    const starting = tabs.map(started)
    await vi.advanceTimersByTimeAsync(1_000)
    release()
    await Promise.all(starting)
    expect(tabs.map(emailOf)).toEqual([DEMO, DEMO, DEMO])
    expect(live()).toEqual([DEMO])
    // The tabs share the session that is renewed first.
    await vi.advanceTimersByTimeAsync(900_000)
    expect(tabs.map(emailOf)).toEqual([DEMO, DEMO, DEMO])
    await tabs[0].session.signOut()
    await settled()
    expect(tabs.map(emailOf)).toEqual([null, null, null])
    expect(live()).toEqual([])
  })

  test('from a sign-in that finishes after another tab has signed out, and the next page does not look for it', async () => {
    const { open, holdAnswers, live, calls } = fakeBrowser()
    const release = holdAnswers('/login')
    const starting = started(open())
    await vi.advanceTimersByTimeAsync(1_000)
    // What is asked from here on is answered.
    holdAnswers('/login')()
    await (await started(open())).session.signOut()
    release()
    await starting
    await settled()
    expect(live()).toEqual([])
    const before = calls.length
    await started(open())
    expect(calls.slice(before)).toEqual(['/login'])
  })

  test('after any sign-in of a user who switches between the demo and their own workspace', async () => {
    const { open, live } = fakeBrowser()
    const [tab, other] = [await started(open()), await started(open())]
    for (const email of [ANA, DEMO, ANA, DEMO, DEMO]) {
      await tab.session.signIn(email)
      await settled()
      expect(emailOf(other)).toBe(email)
      expect(live().toSorted()).toEqual(email === DEMO ? [DEMO] : [ANA, DEMO])
    }
    await tab.session.signOut()
    await settled()
    expect(live()).toEqual([])
  })

  test('if a tab gets one too late, when somebody has signed in', async () => {
    const { open, holdAnswers, live } = fakeBrowser()
    const release = holdAnswers('/login')
    const late = open()
    const starting = started(late)
    await vi.advanceTimersByTimeAsync(1_000)
    // Requests from here on are answered at once.
    holdAnswers('/login')()
    await (await started(open())).session.signIn(ANA)
    release()
    await starting
    await settled()
    expect(emailOf(late)).toBe(ANA)
    expect(live().toSorted()).toEqual([ANA, DEMO])
  })
})

test.each(['refreshA', 'refreshZ'])(
  'a sign-in in a tab with an older version of the page, which reports no time, is not undone (%s)',
  async (before) => {
    const browser = fakeBrowser({ demoEmail: null })
    const older = browser.openOlder(before, ANA)
    const tab = await started(browser.open())
    expect(emailOf(tab)).toBe(ANA)
    older.signIn('refreshB', BEN)
    await settled()
    expect([emailOf(tab), older.told()]).toEqual([BEN, []])
    await tab.session.signIn(ANA)
    await settled()
    expect([emailOf(tab), older.told()]).toEqual([ANA, [ANA]])
  },
)

test.each([
  ['not to stay', false, null],
  ['to stay', true, BEN],
])('the choice %s signed in holds for a sign-in that was in flight when it was made', async (_name, chosen, after) => {
  const browser = fakeBrowser({ demoEmail: null })
  const tab = await started(browser.open())
  await tab.session.signIn(ANA)
  tab.session.remember(!chosen)
  const release = browser.holdAnswers('/login')
  const signingIn = tab.session.signIn(BEN)
  await settled()
  tab.session.remember(chosen)
  release()
  await signingIn
  expect(emailOf(tab)).toBe(BEN)
  expect(tab.session.state().isRemembered).toBe(chosen)
  tab.close()
  expect(emailOf(await started(browser.open(tab.storage)))).toBe(after)
})

test('a sign-out cancels a sign-in in flight that spells the same email differently', async () => {
  const browser = fakeBrowser({ demoEmail: null })
  const [tab, late] = [await started(browser.open()), await started(browser.open())]
  late.setBusy(true)
  await tab.session.signIn(ANA)
  await settled()
  late.drop()
  const release = browser.holdAnswers('/login')
  const signingIn = expect(late.session.signIn(` ${ANA.toUpperCase()}`)).rejects.toThrow('You signed out meanwhile')
  await settled()
  await tab.session.signOut()
  await settled()
  release()
  await signingIn
  expect(emailOf(late)).toBe(null)
})
