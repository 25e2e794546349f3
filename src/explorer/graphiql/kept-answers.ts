// The answers that GraphiQL's tabs hold. GraphiQL itself is given the number of each only: the pane shows the bytes as they came.
import { type Answer, noAnswer } from '../answer/answer.ts'

export interface KeptAnswers {
  /** What GraphiQL is given in its place. */
  readonly keep: (answer: Answer) => object
  /** The answer that a tab shows, by what GraphiQL would show there; null where nothing was run yet. */
  readonly find: (shown: string) => Answer | null
}

/** An answer may be of megabytes. */
const MOST_KEPT = 20

export function createKeptAnswers(): KeptAnswers {
  const answers = new Map<number, Answer>()
  let count = 0
  return {
    keep(answer) {
      count += 1
      answers.set(count, answer)
      answers.delete(count - MOST_KEPT)
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

/** GraphiQL writes its own messages as they are, with those of a parser, or as an error of GraphQL with a stack. */
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
