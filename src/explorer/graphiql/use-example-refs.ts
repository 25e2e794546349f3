// Finds the projects that the example about an export may name. It asks for few, because the editor waits for them.
import type { Storage } from '@graphiql/toolkit'
import { useEffect, useState } from 'react'
import { query } from '../answer/graphql-query.ts'
import { useExplorer } from '../frame/use-explorer.ts'
import type { Session } from '../sign-in/session/session.ts'
import { refsInTabs } from './tabs/own-storage.ts'

const MOST_LISTED = 100
/** Maximum number of references in the stored tabs about which the gateway is asked. */
const MOST_NAMED = 20

interface Found {
  readonly latestExport: object | null
}

interface Answer {
  readonly me: {
    readonly listed: readonly (Found & { readonly ref: string })[]
    readonly [alias: `named${number}`]: Found | null
  } | null
}

/** References of projects that have an export: those named in the stored tabs, and the first others. Null while loading. */
export function useExampleRefs(storage: Storage): readonly string[] | null {
  const { session } = useExplorer()
  const [refs, setRefs] = useState<readonly string[] | null>(null)
  useEffect(() => {
    let isGone = false
    loadRefs(session, refsInTabs(storage).slice(0, MOST_NAMED))
      // Without an answer there is no example about an export.
      .catch(() => [])
      .then((found) => isGone || setRefs(found))
    return () => {
      isGone = true
    }
  }, [session, storage])
  return refs
}

async function loadRefs(session: Session, named: readonly string[]): Promise<readonly string[]> {
  const head = named.map((_, index) => `, $ref${index}: String!`).join('')
  const fields = named.map((_, index) => `named${index}: project(ref: $ref${index}) { latestExport { digest } }`)
  const text = `query($first: Int!${head}) { me {
    listed: projects(first: $first) { ref latestExport { digest } } ${fields.join(' ')}
  } }`
  const variables = Object.fromEntries(named.map((ref, index) => [`ref${index}`, ref]))
  const { me } = await query<Answer>(session, text, { first: MOST_LISTED, ...variables })
  const listed = (me?.listed ?? []).filter(({ latestExport }) => latestExport !== null).map(({ ref }) => ref)
  return [...new Set([...listed, ...named.filter((_, index) => me?.[`named${index}`]?.latestExport)])]
}
