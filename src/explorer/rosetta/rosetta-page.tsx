// The Rosetta page: a REST route beside its GraphQL twin, both with the answer they give right now.
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { CopyButton } from '../copy-button.tsx'
import { replaceAddress, useAddress } from '../navigation.tsx'
import { useExplorer, useSessionState } from '../use-explorer.ts'
import { compare } from './comparison.ts'
import { GraphqlSide } from './graphql-side.tsx'
import { RestSide } from './rest-side.tsx'
import { indented, type RosettaState, readState, routeName, writeState } from './rosetta-state.ts'
import { RouteList } from './route-list.tsx'
import { useProjectRefs } from './use-project-refs.ts'
import { useRuns } from './use-runs.ts'
import { ValueField } from './value-field.tsx'
import './rosetta.css'

export function RosettaPage(): ReactNode {
  const { facts } = useExplorer()
  const address = useAddress()
  const search = address.slice(address.indexOf('?') + 1)
  const initial = useMemo(() => readState(address.includes('?') ? search : '', facts.routes), [address, search, facts])
  return initial && <Rosetta key={search} initial={initial} />
}

function Rosetta({ initial }: { readonly initial: RosettaState }): ReactNode {
  const { session, facts } = useExplorer()
  const email = useSessionState().email ?? ''
  const refs = useProjectRefs(session)
  const [state, setState] = useState(initial)
  const [timesChosen, setTimesChosen] = useState(0)
  const { answers, running, run, clear } = useRuns(session)
  const { route, query } = state
  const value =
    state.value !== '' ? state.value : route.field === 'email' ? email : route.parameter ? (refs[0] ?? '') : ''
  const current = { ...state, value }
  const url = location.origin + facts.basePath
  const shared = `${url}/${writeState(current)}`

  useEffect(() => {
    replaceAddress(shared)
  }, [shared])

  // A read runs as soon as it is shown; a call that changes sessions waits for the person.
  const isReady = route.field === null && (route.parameter === null || value !== '')
  // biome-ignore lint/correctness/useExhaustiveDependencies: edits are run by the person, rows by being chosen
  useEffect(() => {
    if (isReady && !/\bmutation\b/.test(query)) runBoth()
  }, [route, isReady, timesChosen])

  function runBoth(): void {
    void run('rest', current)
    void run('graphql', current)
  }

  const verdict = answers.rest && answers.graphql && compare(answers.rest, answers.graphql)
  return (
    <div className="rosetta">
      <div className="intro">
        <h1>One workspace, two dialects</h1>
        <p>
          Every REST route has a GraphQL twin that answers from the same resolvers. Choose a route, change what you
          like, run either side.
        </p>
      </div>
      <RouteList
        routes={facts.routes}
        current={route}
        onChoose={(next) => {
          clear()
          setTimesChosen(timesChosen + 1)
          setState({ route: next, value: '', query: indented(next.twin) })
        }}
      />
      <div className="bench">
        <div className="controls">
          <p className="what">
            <strong className="path">{routeName(route)}</strong> {route.summary}
          </p>
          <ValueField
            route={route}
            value={value}
            refs={refs}
            onChange={(next) => setState({ ...state, value: next })}
          />
          <div className="buttons">
            <button type="button" className="primary" onClick={runBoth}>
              Run both
            </button>
            <CopyButton label="Copy link" text={() => shared} />
          </div>
        </div>
        <p role="status" className={verdict ? `verdict ${verdict.isSame ? 'same' : 'other'}` : 'verdict'}>
          {verdict?.text ?? (route.field === 'refreshToken' ? OWN_SESSION : 'Run both sides to compare them.')}
        </p>
        <div className="sides">
          <RestSide
            request={{ route, value }}
            context={{ url, email }}
            answer={answers.rest}
            isRunning={running.rest}
            onRun={() => void run('rest', current)}
          />
          <GraphqlSide
            state={current}
            context={{ url, email }}
            answer={answers.graphql}
            isRunning={running.graphql}
            onRun={() => void run('graphql', current)}
            onQuery={(next) => setState({ ...state, query: next })}
          />
        </div>
      </div>
    </div>
  )
}

const OWN_SESSION = 'Each run opens a session of its own, so you stay signed in.'
