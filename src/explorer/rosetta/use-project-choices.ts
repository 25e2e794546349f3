// Loads the projects that the person can choose from; those with an export come first.
import { useEffect, useState } from 'react'
import { query } from '../answer/graphql-query.ts'
import { useConnection, useExplorer, useSessionState } from '../frame/use-explorer.ts'
import { shownName } from '../workspace/shown-name.ts'

const QUERY = '{ me { projects { ref name latestExport { elementCount } } } }'

export interface ProjectChoice {
  readonly ref: string
  readonly name: string
  readonly hasExport: boolean
}

interface Listed {
  readonly ref: string
  readonly name: string | null
  readonly latestExport: object | null
}

export interface ProjectChoices {
  readonly isLoaded: boolean
  readonly projects: readonly ProjectChoice[]
}

const NONE: ProjectChoices = { isLoaded: false, projects: [] }

/** Loads nothing until `isWanted` is true. */
export function useProjectChoices(isWanted = true): ProjectChoices {
  const { session } = useExplorer()
  const isSignedIn = useSessionState().phase === 'signed-in'
  const { timesBack } = useConnection()
  const [choices, setChoices] = useState(NONE)
  useEffect(() => {
    let isGone = timesBack < 0
    async function load(): Promise<void> {
      const { me } = await query<{ me: { projects: readonly Listed[] } | null }>(session, QUERY)
      const all = (me?.projects ?? []).map(({ ref, name, latestExport }) => ({
        ref,
        name: shownName(name, ref),
        hasExport: latestExport !== null,
      }))
      const projects = [...all.filter(({ hasExport }) => hasExport), ...all.filter(({ hasExport }) => !hasExport)]
      if (!isGone) setChoices({ isLoaded: true, projects })
    }
    if (!isSignedIn || !isWanted) return
    // On failure there are no suggestions, but the field still accepts typed text.
    load().catch(() => isGone || setChoices({ isLoaded: true, projects: [] }))
    return () => {
      isGone = true
    }
  }, [session, isSignedIn, isWanted, timesBack])
  return choices
}
