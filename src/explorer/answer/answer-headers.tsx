// Collapsible list of the response headers.
import type { ReactNode } from 'react'
import type { Answer } from './answer.ts'

export function AnswerHeaders({ headers }: Pick<Answer, 'headers'>): ReactNode {
  if (headers.length === 0) return null
  return (
    <details className="answer-headers">
      <summary>Response headers ({headers.length})</summary>
      <dl>
        {headers.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
