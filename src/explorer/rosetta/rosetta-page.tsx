// The Rosetta page: shows a REST route beside its GraphQL twin, with the current response of both.
import { Play, Share2 } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { CopyButton, LINK_COPIED } from '../design/copy-button.tsx'
import { useExplorer, usePlace, useSessionState } from '../frame/use-explorer.ts'
import { canBeTried, NOT_TRIED } from '../snippets/email-enough.ts'
import { FirstSteps } from './first-steps.tsx'
import { PastRuns } from './history/past-runs.tsx'
import { useNotedRuns } from './history/use-noted-runs.ts'
import type { Side } from './requests.ts'
import {
  indented,
  isRunByItself,
  type RosettaState,
  readState,
  requestOf,
  routeName,
  writeState,
} from './rosetta-state.ts'
import { RouteList } from './route-list.tsx'
import { GraphqlSide } from './sides/graphql-side.tsx'
import { RestSide } from './sides/rest-side.tsx'
import { useProjectChoices } from './use-project-choices.ts'
import { useRuns } from './use-runs.ts'
import { ValueField } from './value-field.tsx'
import { VerdictLine } from './verdict-line.tsx'
import './rosetta.css'
import './sides/sides.css'

const BOTH: readonly Side[] = ['rest', 'graphql']

export function RosettaPage(): ReactNode {
  const { facts, navigation } = useExplorer()
  const email = useSessionState().email ?? ''
  const place = usePlace()
  const { visit } = place
  // The state is read on each visit, but not when this page writes its own state into the address.
  const [read, setRead] = useState({ visit, state: readState(place, facts.routes) })
  if (read.visit !== visit) setRead({ visit, state: readState(place, facts.routes) })
  return (
    read.state && (
      <div className="page rosetta">
        <header className="intro">
          <h1>One workspace, two dialects</h1>
          <p>
            Every REST route has a GraphQL twin that answers from the same resolvers. Choose a route, change what you
            like, run both: the page compares the answers byte for byte.
          </p>
        </header>
        {facts.demoEmail !== null && facts.demoEmail === email && <FirstSteps />}
        <RouteList
          routes={facts.routes}
          current={read.state.route}
          onChoose={(next) => navigation.go(`/${writeState({ ...NEW, route: next, query: indented(next.twin) })}`)}
        />
        <Bench key={read.visit} initial={read.state} />
      </div>
    )
  )
}

/** Remounted on each visit, while the route list keeps its DOM and its focus. */
function Bench({ initial }: { readonly initial: RosettaState }): ReactNode {
  const { session, facts, navigation, firstRun } = useExplorer()
  const email = useSessionState().email ?? ''
  const [state, setState] = useState(initial)
  const { isLoaded, projects } = useProjectChoices(state.route.parameter !== null)
  const [shownSide, setShownSide] = useState<Side>('rest')
  const runs = useRuns(session, firstRun)
  const { answers, running, isComparing, verdict, asked, run } = runs
  const request = requestOf(state, email, projects[0]?.ref ?? '')
  const { route, value } = request
  const signIn = { url: location.origin + facts.basePath, email }
  const written = writeState(state)

  useEffect(() => navigation.replace(`/${written}`), [navigation, written])

  const runsByItself = isRunByItself({ ...request, query: initial.query })
  const isReady = route.parameter === null || state.value !== null || isLoaded
  const isFirst = asked === null
  useEffect(() => {
    if (runsByItself && isReady && isFirst) run(BOTH, request)
  })

  useNotedRuns(runs, `/${written}`, email)

  const isEdited = asked !== null && BODY_PARTS.some((part) => asked[part] !== request[part])
  const isTried = canBeTried(route, facts)
  function runBoth(): void {
    if (isTried) run(BOTH, request)
  }
  function runWith(next: string): void {
    // Edited variables are kept as long as the value stays the same.
    const changed = next === value ? state : withValue(state, next)
    setState(changed)
    if (isTried) run(BOTH, requestOf(changed, email, projects[0]?.ref ?? ''))
  }
  return (
    <div className="bench">
      <div className="controls">
        <p className="what">
          <strong className="path">{routeName(route)}</strong> {route.summary}
        </p>
        <ValueField
          route={route}
          value={value}
          projects={projects}
          onChange={(next) => setState(withValue(state, next))}
          onEnter={runWith}
        />
        <div className="buttons">
          {isTried && (
            <button type="button" className="primary" onClick={runBoth}>
              <Play size={14} aria-hidden="true" /> Run both
            </button>
          )}
          <CopyButton
            label="Copy link"
            text={() => `${signIn.url}/${written}`}
            Icon={Share2}
            said={() => LINK_COPIED}
          />
        </div>
      </div>
      <VerdictLine
        verdict={isEdited ? null : verdict}
        isRunning={running.rest || running.graphql || isComparing}
        hint={
          !isTried
            ? NOT_TRIED
            : isEdited
              ? EDITED
              : asked
                ? ONE_SIDE
                : route.field === 'refreshToken'
                  ? OWN_SESSION
                  : NOT_RUN
        }
      />
      <div className="segments side-switch">
        {BOTH.map((side) => (
          <button key={side} type="button" aria-pressed={side === shownSide} onClick={() => setShownSide(side)}>
            {side === 'rest' ? 'REST' : 'GraphQL'}
          </button>
        ))}
      </div>
      <div className="sides" data-shown={shownSide}>
        <RestSide
          request={{ route, value }}
          signIn={signIn}
          answer={answers.rest}
          isRunning={running.rest}
          onRun={isTried ? () => run(['rest'], request) : null}
        />
        <GraphqlSide
          request={request}
          signIn={signIn}
          answer={answers.graphql}
          isRunning={running.graphql}
          onRun={isTried ? () => run(['graphql'], request) : null}
          onRunBoth={runBoth}
          onQuery={(query) => setState({ ...state, query })}
          onVariables={(variables) => setState({ ...state, variables })}
          onReset={() => setState({ ...state, query: indented(route.twin), variables: null })}
        />
      </div>
      <PastRuns />
    </div>
  )
}

/** Sets the value and resets the variables, which then follow from the value. */
function withValue(state: RosettaState, value: string): RosettaState {
  return { ...state, value, variables: null }
}

const BODY_PARTS = ['value', 'query', 'variables'] as const
const NEW = { value: null, variables: null }
const NOT_RUN = 'Run both sides to compare them.'
const ONE_SIDE = 'One side has run. Run both to compare them.'
const EDITED = 'Changed since the last run. Run both to compare them.'
const OWN_SESSION = 'Each run opens a session of its own, so you stay signed in.'
