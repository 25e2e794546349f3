// Tests the session of several tabs, without a browser: which user each has while one of them is busy.
import { describe, expect, test, vi } from 'vitest'
import { DEMO, emailOf, fakeBrowser, settled, started, type Tab } from '../support/fake-browser.ts'
import { ANA, BEN } from '../support/workspaces.ts'

test('a tab that answers late keeps its user, and the tab that asked it stays the demo user', async () => {
  const { open } = fakeBrowser()
  const busy = await started(open())
  await busy.session.signIn(ANA)
  busy.setBusy(true)
  const asking = await started(open())
  expect(emailOf(asking)).toBe(DEMO)
  busy.setBusy(false)
  await settled()
  expect([busy, asking].map(emailOf)).toEqual([ANA, DEMO])
  // Meanwhile both renew their tokens more than once.
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect([busy, asking].map(emailOf)).toEqual([ANA, DEMO])
})

test('a sign-in applies to every tab, even to one with a session of its own', async () => {
  const { open } = fakeBrowser()
  const busy = await started(open())
  await busy.session.signIn(ANA)
  busy.setBusy(true)
  const asking = await started(open())
  busy.setBusy(false)
  await asking.session.signIn(BEN)
  await settled()
  expect([busy, asking].map(emailOf)).toEqual([BEN, BEN])
})

describe('two tabs with separate sessions', () => {
  async function apart(isRemembered: boolean): Promise<{ ana: Tab; demo: Tab; isLive: (email: string) => boolean }> {
    const { open, isLive } = fakeBrowser()
    const ana = await started(open())
    await ana.session.signIn(ANA, { isRemembered })
    ana.setBusy(true)
    const demo = await started(open())
    ana.setBusy(false)
    await settled()
    expect([ana, demo].map(emailOf)).toEqual([ANA, DEMO])
    return { ana, demo, isLive }
  }

  test("the other user's session survives the demo user's sign-out and stays stored", async () => {
    const { ana, demo, isLive } = await apart(true)
    await demo.session.signOut()
    await settled()
    expect([ana, demo].map(emailOf)).toEqual([ANA, null])
    expect([ANA, DEMO].map(isLive)).toEqual([true, false])
    expect(ana.storage.getItem('workspace-gateway:refresh-token')).not.toBeNull()
  })

  test("the demo user's session survives the other user's sign-out", async () => {
    const { ana, demo, isLive } = await apart(false)
    await ana.session.signOut()
    await settled()
    expect([ana, demo].map(emailOf)).toEqual([null, DEMO])
    expect([ANA, DEMO].map(isLive)).toEqual([false, true])
  })

  test("a sign-in in the demo user's tab ends the other user's session, but not the demo session", async () => {
    const { ana, demo, isLive } = await apart(true)
    await demo.session.signIn(BEN)
    await settled()
    expect([ana, demo].map(emailOf)).toEqual([BEN, BEN])
    expect([ANA, DEMO, BEN].map(isLive)).toEqual([false, true, true])
  })
})

test('a sign-out applies to all tabs of the user, even to one with a session of its own', async () => {
  const { open, isLive } = fakeBrowser()
  const tabs = [open(), open()] as const
  for (const [index, tab] of tabs.entries()) {
    tabs[1 - index]?.setBusy(true)
    await started(tab)
    await tab.session.signIn(ANA)
    tabs[1 - index]?.drop()
  }
  await tabs[0].session.signOut()
  await settled()
  expect(tabs.map(emailOf)).toEqual([null, null])
  expect(isLive(ANA)).toBe(false)
})

test('a tab opened beside one that answers in time has the same user, and renews the token for both', async () => {
  const { open, calls } = fakeBrowser()
  const first = await started(open())
  await first.session.signIn(ANA)
  const second = await started(open())
  expect(emailOf(second)).toBe(ANA)
  expect(calls.filter((call) => call === '/login')).toHaveLength(2)
  const endsAt = second.session.state().endsAt ?? 0
  await vi.advanceTimersByTimeAsync(900_000)
  expect(first.session.state().endsAt).toBeGreaterThan(endsAt)
  expect(first.session.state().endsAt).toBe(second.session.state().endsAt)
})

test('a reopened tab with a kept session gets the user who signed in meanwhile, and changes no other tab', async () => {
  const { open, isLive } = fakeBrowser()
  const kept = await started(open())
  await kept.session.signIn(ANA, { isRemembered: true })
  const other = await started(open())
  kept.close()
  await other.session.signIn(BEN)
  expect(isLive(ANA)).toBe(false)
  const again = await started(open(kept.storage))
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect([again, other].map(emailOf)).toEqual([BEN, BEN])
  expect(again.session.state().isRemembered).toBe(false)
  // The new session is not kept either: once the other tabs are closed, the tab has no user.
  other.close()
  again.close()
  expect(emailOf(await started(open(kept.storage)))).toBeNull()
})

test('a kept session stays kept over a reload beside another tab of that session', async () => {
  const { open, calls } = fakeBrowser()
  const first = await started(open())
  await first.session.signIn(ANA, { isRemembered: true })
  await started(open())
  first.close()
  const again = await started(open(first.storage))
  expect(again.session.state()).toMatchObject({ email: ANA, isRemembered: true })
  expect(calls).not.toContain('/logout')
})

test('a kept session stays kept over a reload after the same user signed in again in another tab', async () => {
  const { open } = fakeBrowser()
  const kept = await started(open())
  await kept.session.signIn(ANA, { isRemembered: true })
  kept.close()
  const other = await started(open())
  await other.session.signIn(ANA)
  const again = await started(open(kept.storage))
  expect(again.session.state()).toMatchObject({ email: ANA, isRemembered: true })
  other.close()
  again.close()
  expect(emailOf(await started(open(kept.storage)))).toBe(ANA)
})

test.each([
  [ANA, true],
  [BEN, false],
])('a kept session stays kept only for its user: %s signs in elsewhere, kept: %s', async (email, isKept) => {
  const { open } = fakeBrowser({ demoEmail: null })
  const [tab, other] = [await started(open()), await started(open())]
  await tab.session.signIn(ANA, { isRemembered: true })
  await other.session.signIn(email)
  await settled()
  expect(tab.session.state()).toMatchObject({ email, isRemembered: isKept })
  // A renewal of the token does not change that.
  await vi.advanceTimersByTimeAsync(900_000)
  tab.close()
  other.close()
  expect(emailOf(await started(open(tab.storage)))).toBe(isKept ? email : null)
})

test.each([true, false])(
  'a reopened tab resumes its kept session beside a tab of that session, whichever tab answers first (%s)',
  async (isFirst) => {
    const { open, live } = fakeBrowser({ demoEmail: null })
    const kept = open()
    const others = [open(), open()] as const
    const [same, ben] = isFirst ? others : others.toReversed()
    if (!same || !ben) throw new Error('two tabs were opened')
    await started(kept)
    await kept.session.signIn(ANA, { isRemembered: true })
    await started(same)
    // Both tabs are busy, so they do not hear of Ben, and Ben's tab gets no answer from them.
    for (const tab of [kept, same]) tab.setBusy(true)
    await started(ben)
    await ben.session.signIn(BEN)
    for (const tab of [kept, same]) tab.drop()
    expect([kept, same, ben].map(emailOf)).toEqual([ANA, ANA, BEN])
    kept.close()
    const again = await started(open(kept.storage))
    expect(again.session.state()).toMatchObject({ email: ANA, isRemembered: true })
    expect(live().toSorted()).toEqual([ANA, BEN])
    expect([same, ben].map(emailOf)).toEqual([ANA, BEN])
  },
)

test("a reopened tab joins another tab of its user, even if the demo user's tab answers first", async () => {
  const { open } = fakeBrowser()
  const ana = await started(open())
  await ana.session.signIn(ANA)
  ana.setBusy(true)
  const demo = await started(open())
  ana.drop()
  demo.setBusy(true)
  const same = await started(open())
  demo.drop()
  expect([ana, same, demo].map(emailOf)).toEqual([ANA, ANA, DEMO])
  ana.close()
  expect(emailOf(await started(open(ana.storage)))).toBe(ANA)
})

test("a reload beside a tab of the demo user turns no tab into the demo user's", async () => {
  const { open, isLive } = fakeBrowser()
  const busy = await started(open())
  await busy.session.signIn(ANA, { isRemembered: true })
  busy.setBusy(true)
  const demo = await started(open())
  busy.close()
  const again = await started(open(busy.storage))
  expect([again, demo].map(emailOf)).toEqual([ANA, DEMO])
  expect([ANA, DEMO].map(isLive)).toEqual([true, true])
})

test("a kept session that has ended says so once, and the next reload is the demo user's", async () => {
  const { open, endAll } = fakeBrowser()
  const tab = await started(open())
  await tab.session.signIn(ANA, { isRemembered: true })
  endAll(ANA)
  tab.close()
  const again = await started(open(tab.storage))
  const ended = {
    phase: 'signed-out',
    email: null,
    message: { text: 'Your session has ended: sign in again.', isFailure: false },
  }
  expect(again.session.state()).toMatchObject(ended)
  again.close()
  expect(emailOf(await started(open(tab.storage)))).toBe(DEMO)
})

test('a sign-in as somebody else ends the previous session, but not the demo session', async () => {
  const { open, isLive } = fakeBrowser()
  const { session } = await started(open())
  await session.signIn(ANA)
  expect([DEMO, ANA].map(isLive)).toEqual([true, true])
  await session.signIn(BEN)
  await settled()
  expect([DEMO, ANA, BEN].map(isLive)).toEqual([true, false, true])
})
