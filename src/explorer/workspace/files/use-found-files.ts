// Loads the files that the palette searches: the open ones immediately, those of the whole workspace as they arrive.
import { useEffect, useMemo, useState } from 'react'
import { failureText } from '../../frame/connection.ts'
import { useExplorer, useSessionState } from '../../frame/use-explorer.ts'
import type { Session } from '../../sign-in/session/session.ts'
import { type Item, KINDS, type Kind, type Workspace } from '../items.ts'
import { documentsVersion, findDocumentFiles } from './document-files.ts'
import { exportsVersion, findExportedFiles } from './exported-files.ts'
import type { Finding, FoundFile } from './found-file.ts'
import { filesOf } from './found-files.ts'

export interface FoundFiles {
  readonly files: readonly FoundFile[]
  /** The state of the search: in progress, incomplete or failed; empty otherwise. */
  readonly note: string
}

const NOTHING: Finding = { files: [], isAll: true }

/** Loads when `isWanted` becomes true, one request after the other, and stops when the palette closes. */
export function useFoundFiles(workspace: Workspace | null, isWanted: boolean): FoundFiles {
  const { session, openFiles, searchedFiles } = useExplorer()
  const email = useSessionState().email ?? ''
  const [loaded, setLoaded] = useState<readonly FoundFile[]>([])
  const [note, setNote] = useState('')
  const open = useMemo(() => {
    const shown = openFiles.current
    return shown ? filesOf(shown, shown.paths) : []
  }, [openFiles])

  useEffect(() => {
    if (!isWanted || !workspace) return
    let isGone = false
    async function load(items: Workspace): Promise<void> {
      setNote('Looking through the files …')
      let all = NOTHING
      for (const kind of KINDS) {
        if (items[kind].length === 0) continue
        const version = `${email}\n${await versionOf(session, kind, items[kind])}`
        const kept = searchedFiles.get(kind)
        let own = kept?.version === version ? kept.found : NOTHING
        if (own === NOTHING) {
          for await (const finding of findFiles(session, kind, items[kind])) {
            if (isGone) return
            own = together(own, finding)
            setLoaded(together(all, own).files)
          }
          searchedFiles.set(kind, { version, found: own })
        }
        all = together(all, own)
        if (isGone) return
        setLoaded(all.files)
      }
      setNote(all.isAll ? '' : 'There are more files than are looked through here.')
    }
    load(workspace).catch((error) => isGone || setNote(`Files could not be looked through. ${failureText(error)}`))
    return () => {
      isGone = true
    }
  }, [session, email, workspace, searchedFiles, isWanted])

  const files = useMemo(() => {
    const shown = open[0]?.from
    const isNewest = shown !== undefined && shown.exportKey === undefined
    const isShown = ({ from }: FoundFile) => isNewest && from.kind === shown.kind && from.opened === shown.opened
    return [...open, ...loaded.filter((file) => !isShown(file))]
  }, [open, loaded])
  return { files, note }
}

async function versionOf(session: Session, kind: Kind, items: readonly Item[]): Promise<string> {
  return kind === 'projects' ? exportsVersion(items) : documentsVersion(session, kind)
}

function findFiles(session: Session, kind: Kind, items: readonly Item[]): AsyncGenerator<Finding> {
  return kind === 'projects' ? findExportedFiles(session, items) : findDocumentFiles(session, kind, items)
}

function together(one: Finding, other: Finding): Finding {
  return { files: [...one.files, ...other.files], isAll: one.isAll && other.isAll }
}
