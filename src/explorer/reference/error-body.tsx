// The reference section about the error format and all error codes.
import type { ReactNode } from 'react'
import { TextView } from '../text/text-view.tsx'
import { FailureTable } from './failure-table.tsx'
import { FieldTable } from './field-table.tsx'
import { failuresOf, fieldsOf, type OpenApi } from './openapi.ts'

interface ErrorBodyProps {
  readonly document: OpenApi
  /** The search text of the reference. */
  readonly words: string
}

export function ErrorBody({ document, words }: ErrorBodyProps): ReactNode {
  const { schemas } = document.components
  const problem = schemas.Problem
  const failures = failuresOf(document)
  return (
    <section id="errors" className="operation" aria-labelledby="errors-title" tabIndex={-1}>
      <div className="about">
        <h2 id="errors-title">Errors</h2>
        <p>
          Every failure is a problem document (RFC 9457), <code>application/problem+json</code>. Tell failures apart by{' '}
          <code>code</code>; GraphQL has the same codes in <code>extensions.code</code>.
        </p>
        <FieldTable caption="Body" fields={fieldsOf(problem, schemas)} />
      </div>
      <div className="samples">
        {problem.examples?.[0] !== undefined && (
          <div className="framed">
            <TextView
              text={JSON.stringify(problem.examples[0])}
              label="Example of an error"
              language="json"
              fileName="problem.json"
            />
          </div>
        )}
      </div>
      {failures.length > 0 && <FailureTable failures={failures} words={words} />}
    </section>
  )
}
