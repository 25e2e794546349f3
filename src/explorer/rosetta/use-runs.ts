// Runs the two sides of a route. Each answer belongs to one run, and only answers of the same run are compared.
import { useCallback, useEffect, useRef, useState } from 'react'
import { type Answer, noAnswer } from '../answer/answer.ts'
import { isLong, offload } from '../beside/beside.ts'
import type { Session } from '../sign-in/session/session.ts'
import { compare, compareTexts, type Verdict, whyNot } from './comparison.ts'
import type { FirstRun } from './first-run.ts'
import { type RowRequest, type Side, sendSide } from './requests.ts'

interface State {
  /** The request of the latest run. */
  readonly asked: RowRequest | null
  /** The last answer of each side, possibly from different runs. */
  readonly answers: { readonly [S in Side]: Answer | null }
  readonly running: { readonly [S in Side]: boolean }
  /** Whether both sides of the latest run have answered and the comparison is still running. */
  readonly isComparing: boolean
  /** The verdict on the latest run; null until both sides have answered, and for a run with one side. */
  readonly verdict: Verdict | null
}

export interface Runs extends State {
  readonly run: (sides: readonly Side[], request: RowRequest) => void
}

/** The answers that the latest run has received so far. */
type Got = { -readonly [S in Side]?: Answer }

const NOTHING: State = {
  asked: null,
  answers: { rest: null, graphql: null },
  running: { rest: false, graphql: false },
  isComparing: false,
  verdict: null,
}

export function useRuns(session: Session, firstRun: FirstRun): Runs {
  const [state, setState] = useState(NOTHING)
  const newest = useRef({ number: 0, abort: new AbortController(), got: {} as Got })

  /**
   * Stores an answer. When both sides have answered, compares them: short ones on this thread, long ones in a worker.
   */
  const take = useCallback((side: Side, number: number, answer: Answer) => {
    const { got } = newest.current
    got[side] = answer
    const { rest, graphql } = got
    if (!rest || !graphql) return setState((now) => answered(now, side, answer))
    if (!isLong(rest.text, graphql.text)) {
      return setState((now) => ({ ...answered(now, side, answer), verdict: compare(rest, graphql) }))
    }
    setState((now) => ({ ...answered(now, side, answer), isComparing: true }))
    void compareInWorker(rest, graphql).then((verdict) => {
      if (newest.current.number === number) setState((now) => ({ ...now, isComparing: false, verdict }))
    })
  }, [])

  const run = useCallback(
    (sides: readonly Side[], request: RowRequest) => {
      newest.current.abort.abort()
      const abort = new AbortController()
      const number = newest.current.number + 1
      newest.current = { number, abort, got: {} }
      const running = { rest: sides.includes('rest'), graphql: sides.includes('graphql') }
      setState((now) => ({ ...now, asked: request, running, isComparing: false, verdict: null }))
      for (const side of sides) {
        const sent = firstRun.take(side, request, abort.signal) ?? sendSide(side, request, session, abort.signal)
        sent.catch(noAnswer).then((answer) => {
          if (newest.current.number === number) take(side, number, answer)
        })
      }
    },
    [session, firstRun, take],
  )

  // Abort the running requests when the component unmounts.
  useEffect(() => () => newest.current.abort.abort(), [])

  return { ...state, run }
}

async function compareInWorker(rest: Answer, graphql: Answer): Promise<Verdict> {
  const statuses = [rest.status, graphql.status] as const
  return whyNot(rest, graphql) ?? offload('compareTexts', compareTexts, rest.text, graphql.text, statuses)
}

function answered(state: State, side: Side, answer: Answer): State {
  return {
    ...state,
    answers: { ...state.answers, [side]: answer },
    running: { ...state.running, [side]: false },
  }
}
