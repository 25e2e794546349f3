// Running the two sides of a row: what was answered last, and what is under way.
import { useCallback, useRef, useState } from 'react'
import { type Answer, timed } from '../answer.ts'
import type { Session } from '../session.ts'
import type { RosettaState } from './rosetta-state.ts'
import { type RestRequest, restPath } from './snippets.ts'

export type Side = 'rest' | 'graphql'

export interface Runs {
  readonly answers: { readonly [S in Side]: Answer | null }
  readonly running: { readonly [S in Side]: boolean }
  readonly run: (side: Side, state: RosettaState) => Promise<void>
  readonly clear: () => void
}

const NOTHING = { rest: null, graphql: null }
const JSON_HEADERS = { 'content-type': 'application/json' }

export function useRuns(session: Session): Runs {
  const [answers, setAnswers] = useState<Runs['answers']>(NOTHING)
  const [running, setRunning] = useState({ rest: false, graphql: false })
  const latest = useRef({ rest: 0, graphql: 0 })

  const run = useCallback(
    async (side: Side, state: RosettaState) => {
      latest.current[side] += 1
      const mine = latest.current[side]
      setRunning((now) => ({ ...now, [side]: true }))
      const answer = await send(side, state, session).catch(noAnswer)
      if (latest.current[side] !== mine) return
      setAnswers((now) => ({ ...now, [side]: answer }))
      setRunning((now) => ({ ...now, [side]: false }))
    },
    [session],
  )

  const clear = useCallback(() => {
    latest.current.rest += 1
    latest.current.graphql += 1
    setAnswers(NOTHING)
    setRunning({ rest: false, graphql: false })
  }, [])

  return { answers, running, run, clear }
}

/** A call that takes a refresh token runs on a session of its own: the person stays signed in. */
async function send(side: Side, { route, value, query }: RosettaState, session: Session): Promise<Answer> {
  const argument = route.field === 'refreshToken' ? (await session.openAnother()).refreshToken : value
  const name = route.field ?? route.parameter
  if (side === 'graphql') {
    const variables = name === null ? {} : { [name]: argument }
    return timed(() =>
      session.send('/graphql', { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify({ query, variables }) }),
    )
  }
  return sendRest({ route, value: argument }, session)
}

/** One REST call; `value` is the parameter's or the field's. */
export function sendRest({ route, value }: RestRequest, session: Session): Promise<Answer> {
  if (route.field === null) return timed(() => session.send(restPath({ route, value })))
  const body = JSON.stringify({ [route.field]: value })
  return timed(() => session.send(route.path, { method: route.method, headers: JSON_HEADERS, body }))
}

export function noAnswer(error: unknown): Answer {
  return { status: 0, durationMs: 0, byteLength: 0, text: error instanceof Error ? error.message : String(error) }
}
