// The page of an item that is not in the workspace of the signed-in user.
import { DatabaseZap } from 'lucide-react'
import type { ReactNode } from 'react'
import { EmptyState } from '../design/empty-state.tsx'
import { useSessionState } from '../frame/use-explorer.ts'
import { SignInForm } from '../sign-in/sign-in-form.tsx'

/** Shown for a link to an item that is missing, was removed meanwhile, or belongs to another user. */
export function NotThere(): ReactNode {
  const { email } = useSessionState()
  return (
    <EmptyState Icon={DatabaseZap} title="It is not there" isPage>
      <p>
        There is nothing by this name in the workspace of <strong>{email}</strong>, or no longer.
      </p>
      <details>
        <summary>Sign in as somebody else</summary>
        <SignInForm label="Email" />
      </details>
    </EmptyState>
  )
}
