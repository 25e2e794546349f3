// Holds the responses of GraphiQL's tabs. GraphiQL itself receives only a number; the pane shows the original bytes.
import { type Answer, noAnswer } from '../answer/answer.ts'

export interface KeptAnswers {
  /** Stores the answer and returns the object that GraphiQL receives instead. */
  readonly keep: (answer: Answer) => object
  /**
   * Returns the answer of a tab. `shown` is the text in GraphiQL's own result editor. Returns null when the tab has not
   * run anything yet.
   */
  readonly find: (shown: string) => Answer | null
}

/** Bounded, because an answer may have megabytes. The newest answer is always kept. */
const MOST_KEPT = 20
/** Maximum total length of the kept answers, in characters. */
const LONGEST_KEPT = 100_000_000

export function createKeptAnswers(): KeptAnswers {
  const answers = new Map<number, Answer>()
  let count = 0
  return {
    keep(answer) {
      count += 1
      answers.set(count, answer)
      answers.delete(count - MOST_KEPT)
      let length = [...answers.values()].reduce((sum, { text }) => sum + text.length, 0)
      for (const [number, { text }] of answers) {
        if (length <= LONGEST_KEPT || number === count) break
        answers.delete(number)
        length -= text.length
      }
      return { answer: count }
    },
    find(shown) {
      if (shown.trim() === '') return null
      const number = /^\{\s*"answer": (\d+)\s*\}$/.exec(shown)?.[1]
      if (number === undefined) return noAnswer(new Error(messageIn(shown)))
      return (
        answers.get(Number(number)) ?? noAnswer(new Error('This answer is not kept any more: run the query again.'))
      )
    },
  }
}

/** GraphiQL shows its own messages as text with the parser's message appended, or as a GraphQL error with a stack. */
function messageIn(shown: string): string {
  const [, what] = /^(Variables|Headers) are (?:invalid JSON|not a JSON object)/.exec(shown) ?? []
  if (what !== undefined) return `The ${what.toLowerCase()} are not a JSON object.`
  try {
    const { errors } = JSON.parse(shown) as { readonly errors?: readonly { readonly message: string }[] }
    return errors?.[0]?.message ?? shown
  } catch {
    return shown
  }
}
