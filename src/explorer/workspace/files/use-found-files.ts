// The files that the palette searches: of the export that is open at once, of every project's newest one as they come.
import { useEffect, useMemo, useState } from 'react'
import { failureText } from '../../frame/connection.ts'
import { useExplorer, useSessionState } from '../../frame/use-explorer.ts'
import type { Item } from '../items.ts'
import type { FoundFile } from './found-file.ts'
import { filesOf, loadPaths, MOST_FILES, runsOf } from './found-files.ts'

export interface FoundFiles {
  readonly files: readonly FoundFile[]
  /** What is to be said of the search itself: that it goes on, that it left something out; else empty. */
  readonly note: string
}

/** Loads once it is wanted, one run after the other, and no more when the palette is closed. */
export function useFoundFiles(projects: readonly Item[], isWanted: boolean): FoundFiles {
  const { session, openExport, searchedFiles } = useExplorer()
  const email = useSessionState().email ?? ''
  const [loaded, setLoaded] = useState<readonly FoundFile[]>([])
  const [note, setNote] = useState('')
  const open = useMemo(() => {
    const shown = openExport.current
    return shown ? filesOf(shown, shown.paths) : []
  }, [openExport])

  useEffect(() => {
    if (!isWanted) return
    let isGone = false
    const key = [email, ...projects.map((project) => `${project.key} ${project.digest}`)].join('\n')
    async function load(): Promise<void> {
      if (searchedFiles.current?.key === key) return setLoaded(searchedFiles.current.files)
      setNote('Looking through the files of the newest exports …')
      let files: readonly FoundFile[] = []
      for (const run of runsOf(projects)) {
        const paths = await loadPaths(session, run)
        if (isGone) return
        files = [
          ...files,
          ...run.projects.flatMap(({ key, name }) => filesOf({ ref: key, name }, paths.get(key) ?? [])),
        ]
        setLoaded(files)
      }
      searchedFiles.current = { key, files }
      const all = projects.reduce((sum, { fileCount }) => sum + fileCount, 0)
      setNote(all > MOST_FILES ? `Only the first ${MOST_FILES.toLocaleString()} files are looked through.` : '')
    }
    load().catch((error) => isGone || setNote(`Files could not be looked through. ${failureText(error)}`))
    return () => {
      isGone = true
    }
  }, [session, email, projects, searchedFiles, isWanted])

  const files = useMemo(() => {
    const [first] = open
    const isNewest = first !== undefined && first.from.exportKey === undefined
    return [...open, ...(isNewest ? loaded.filter(({ from }) => from.ref !== first.from.ref) : loaded)]
  }, [open, loaded])
  return { files, note }
}
