// The references to choose from: projects that have an export come first.
import { useEffect, useState } from 'react'
import type { Session } from '../session.ts'

const QUERY = '{ me { projects(first: 200) { ref latestExport { cursor } } } }'

interface Listed {
  readonly ref: string
  readonly latestExport: object | null
}

export function useProjectRefs(session: Session): readonly string[] {
  const [refs, setRefs] = useState<readonly string[]>([])
  useEffect(() => {
    let isGone = false
    async function load(): Promise<void> {
      const answer = await session.send('/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: QUERY }),
      })
      const { data } = (await answer.json()) as { data?: { me: { projects: readonly Listed[] } | null } }
      const projects = data?.me?.projects ?? []
      const exported = projects.filter(({ latestExport }) => latestExport !== null)
      const others = projects.filter(({ latestExport }) => latestExport === null)
      if (!isGone) setRefs([...exported, ...others].map(({ ref }) => ref))
    }
    if (session.state().phase !== 'signed-in') return
    // Without suggestions the field still takes what is typed.
    load().catch(() => {})
    return () => {
      isGone = true
    }
  }, [session])
  return refs
}
