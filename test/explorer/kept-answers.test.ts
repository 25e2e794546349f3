// Tests which answers of its tabs GraphiQL's pane still has, as many as it has shown.
import { expect, test } from 'vitest'
import { type Answer, noAnswer } from '../../src/explorer/answer/answer.ts'
import { createKeptAnswers } from '../../src/explorer/graphiql/kept-answers.ts'

const LARGE = 'x'.repeat(40_000_000)
const GONE = 'This answer is not kept any more: run the query again.'

/** Runs the texts one after the other, and returns what the pane then shows in the tab of each. */
function shownAfter(texts: readonly string[]): readonly string[] {
  const { keep, find } = createKeptAnswers()
  const tabs = texts.map((text) => JSON.stringify(keep(answerOf(text)), null, 2))
  return tabs.map((tab) => find(tab)?.text ?? '')
}

function answerOf(text: string): Answer {
  return { ...noAnswer(new Error(text)), status: 200 }
}

test('the last twenty short answers are kept', () => {
  const texts = Array.from({ length: 22 }, (_, index) => `answer ${index}`)
  expect(shownAfter(texts)).toEqual([GONE, GONE, ...texts.slice(2)])
})

test('of large answers the latest are kept, up to a hundred million characters in all', () => {
  const shown = shownAfter(['short', LARGE, LARGE, 'short too', LARGE])
  expect(shown.map((text) => (text === LARGE ? 'large' : text))).toEqual([GONE, GONE, 'large', 'short too', 'large'])
})

test('the latest answer is kept, however large it is', () => {
  const larger = LARGE.repeat(3)
  const shown = shownAfter(['short', larger])
  expect(shown[0]).toBe(GONE)
  expect(shown[1] === larger).toBe(true)
})
