// What a person wrote into the reference: it is there when they come back from another page, and is not shown to another person.
import { useState } from 'react'
import { useExplorer, useSessionState } from '../frame/use-explorer.ts'
import type { WrittenReference } from './own-headers.ts'

export function useWritten(): readonly [WrittenReference, (change: Partial<WrittenReference>) => void] {
  const { leftReference } = useExplorer()
  const { email } = useSessionState()
  const [written, setWritten] = useState<WrittenReference>(() =>
    leftReference.current?.email === email ? leftReference.current : { email, words: '', drafts: new Map() },
  )
  function write(change: Partial<WrittenReference>): void {
    leftReference.current = { ...written, ...change }
    setWritten(leftReference.current)
  }
  return [written, write]
}
