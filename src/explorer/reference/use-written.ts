// Keeps what a user typed into the reference while they visit other pages, and hides it from other users.
import { useState } from 'react'
import { useExplorer, useSessionState } from '../frame/use-explorer.ts'
import type { WrittenReference } from './own-headers.ts'

type LeftReferences = Map<string | null, WrittenReference>

const NOTHING: WrittenReference = { words: '', drafts: new Map() }

export function useWritten(): readonly [WrittenReference, (change: Partial<WrittenReference>) => void] {
  const { leftReferences } = useExplorer()
  const { email } = useSessionState()
  const [written, setWritten] = useState(() => restoreWritten(leftReferences, email))
  function write(change: Partial<WrittenReference>): void {
    const next = { ...written, ...change }
    leftReferences.set(email, next)
    setWritten(next)
  }
  return [written, write]
}

/** Hands a search typed before sign-in to the next user to sign in, and to nobody else. Nothing else is typed then. */
function restoreWritten(left: LeftReferences, email: string | null): WrittenReference {
  const own = left.get(email) ?? NOTHING
  const nobodys = left.get(null)
  if (email === null || !nobodys) return own
  const taken = { ...own, words: nobodys.words }
  left.set(email, taken)
  left.delete(null)
  return taken
}
