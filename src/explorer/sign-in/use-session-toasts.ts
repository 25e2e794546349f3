// Shows a toast when the session ends on a public page, which shows no sign-in card.
import { useEffect, useRef } from 'react'
import { useToast } from '../design/toast.tsx'
import { useSessionState } from '../frame/use-explorer.ts'

export function useSessionToasts(isWithoutCard: boolean): void {
  const { phase, message } = useSessionState()
  const toast = useToast()
  const before = useRef({ phase, message })
  useEffect(() => {
    const was = before.current
    before.current = { phase, message }
    if (!isWithoutCard || phase !== 'signed-out') return
    if (message !== null && message !== was.message) toast(message.text, message.isFailure ? 'failed' : 'told')
    else if (was.phase === 'signed-in') toast('You are signed out.')
  }, [phase, message, isWithoutCard, toast])
}
