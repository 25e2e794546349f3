// The "Getting started" section: the first calls of a client.
import type { ReactNode } from 'react'
import { useExplorer, useSessionState } from '../frame/use-explorer.ts'
import { askedGuards } from '../sign-in/asked-guards.ts'
import { restCall } from '../snippets/call.ts'
import { SnippetView } from '../snippets/snippet-view.tsx'

export function GettingStarted(): ReactNode {
  const { facts } = useExplorer()
  const email = useSessionState().email ?? facts.demoEmail ?? 'ana@example.com'
  const guards = askedGuards(facts)
  const url = location.origin + facts.basePath
  const first = facts.routes.find(({ method, field, parameter }) => method === 'GET' && field === null && !parameter)
  return (
    <section id="start" className="operation" aria-labelledby="start-title" tabIndex={-1}>
      <div className="about">
        <h2 id="start-title">Getting started</h2>
        <ol className="steps">
          <li>
            <code>POST /login</code> with an email{' '}
            {guards.includes('mail') && (
              <>
                has a code mailed there{guards.includes('local') && ', except on the machine of the gateway'}; with the
                email and this <code>code</code> it{' '}
              </>
            )}
            answers an access token and a refresh token.
          </li>
          <li>
            Every read takes the access token, as <code>Authorization: Bearer …</code>.
          </li>
          <li>
            When it ends after some minutes, <code>POST /token</code> with the refresh token answers a new one.
          </li>
          <li>
            <code>DELETE /logout</code> ends the session: all its tokens are refused from then on.
          </li>
        </ol>
        <p className="note">
          Beside the contract: <code>/graphql</code>, <code>/openapi.json</code>, the public keys at{' '}
          <code>/.well-known/jwks.json</code>, and <code>/healthz</code> and <code>/readyz</code> for machines.
        </p>
      </div>
      <div className="samples">
        {first && (
          <SnippetView
            call={restCall({ route: first, value: '' }, url)}
            signIn={{ url, email }}
            label="Sign in and read"
            isSigningIn
          />
        )}
      </div>
    </section>
  )
}
