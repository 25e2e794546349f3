// Running the two sides of a row: every answer knows which run it belongs to, and only answers of one run are compared.
import { useCallback, useRef, useState } from 'react'
import { type Answer, noAnswer } from '../answer/answer.ts'
import type { Session } from '../sign-in/session.ts'
import { compare, type Verdict } from './comparison.ts'
import type { FirstRun } from './first-run.ts'
import { type RowRequest, type Side, sendSide } from './requests.ts'

export interface Runs {
  /** The last answer of each side, of whatever run. */
  readonly answers: { readonly [S in Side]: Answer | null }
  readonly running: { readonly [S in Side]: boolean }
  /** Of the newest run, once both its sides have answered; null before, and when it had one side only. */
  readonly verdict: Verdict | null
  /** What the newest run asked. */
  readonly asked: RowRequest | null
  readonly run: (sides: readonly Side[], request: RowRequest) => void
}

interface State {
  readonly number: number
  readonly asked: RowRequest | null
  readonly answers: { readonly [S in Side]: { readonly number: number; readonly answer: Answer } | null }
  readonly running: { readonly [S in Side]: boolean }
  readonly verdict: Verdict | null
}

const NOTHING: State = {
  number: 0,
  asked: null,
  answers: { rest: null, graphql: null },
  running: { rest: false, graphql: false },
  verdict: null,
}

export function useRuns(session: Session, firstRun: FirstRun): Runs {
  const [state, setState] = useState(NOTHING)
  const newest = useRef({ number: 0, abort: new AbortController() })

  const run = useCallback(
    (sides: readonly Side[], request: RowRequest) => {
      newest.current.abort.abort()
      const abort = new AbortController()
      const number = newest.current.number + 1
      newest.current = { number, abort }
      const running = { rest: sides.includes('rest'), graphql: sides.includes('graphql') }
      setState((now) => ({ ...now, number, asked: request, running, verdict: null }))
      for (const side of sides) {
        const sent = firstRun.take(side, request) ?? sendSide(side, request, session, abort.signal)
        sent.catch(noAnswer).then((answer) => {
          if (newest.current.number === number) setState((now) => answered(now, side, answer))
        })
      }
    },
    [session, firstRun],
  )

  const { answers, running, verdict, asked } = state
  return {
    answers: { rest: answers.rest?.answer ?? null, graphql: answers.graphql?.answer ?? null },
    running,
    verdict,
    asked,
    run,
  }
}

function answered(state: State, side: Side, answer: Answer): State {
  const answers = { ...state.answers, [side]: { number: state.number, answer } }
  const { rest, graphql } = answers
  const isWhole = rest?.number === state.number && graphql?.number === state.number
  return {
    ...state,
    answers,
    running: { ...state.running, [side]: false },
    verdict: isWhole ? compare(rest.answer, graphql.answer) : null,
  }
}
