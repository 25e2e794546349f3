// The reference section of one operation: parameters, responses, samples, and a form to try it.
import type { ReactNode } from 'react'
import { Link } from '../frame/navigation/link.tsx'
import { useExplorer, useSessionState } from '../frame/use-explorer.ts'
import type { ProjectChoice } from '../rosetta/use-project-choices.ts'
import { REFRESH_TOKEN, restCall } from '../snippets/call.ts'
import { SnippetView } from '../snippets/snippet-view.tsx'
import { TextView } from '../text/text-view.tsx'
import { FieldTable } from './field-table.tsx'
import type { ShownOperation } from './openapi.ts'
import { type Draft, sentHeaders } from './own-headers.ts'
import { TryIt } from './try-it.tsx'
import { WithCode } from './with-code.tsx'

interface OperationSectionProps {
  readonly operation: ShownOperation
  readonly projects: readonly ProjectChoice[]
  readonly draft: Draft
  readonly onDraft: (draft: Draft) => void
}

export function OperationSection({ operation, projects, draft, onDraft }: OperationSectionProps): ReactNode {
  const { facts } = useExplorer()
  const email = useSessionState().email ?? facts.demoEmail ?? 'ana@example.com'
  const { id, method, path, summary, twin, parameters, body, needsToken, answer, failures } = operation
  const route = facts.routes.find((row) => row.method === method && row.path === path)
  const url = location.origin + facts.basePath
  const example = route?.parameter
    ? (projects[0]?.ref ?? 'a-project')
    : route?.field === 'email'
      ? email
      : REFRESH_TOKEN
  return (
    <section id={id} className="operation" aria-labelledby={`${id}-title`} tabIndex={-1}>
      <div className="about">
        <h2 id={`${id}-title`}>
          <span className={`method ${method.toLowerCase()}`}>{method}</span> <span className="path">{path}</span>
          <span className="title">{summary}</span>
        </h2>
        <p className="note">
          {needsToken ? 'Needs an access token, as Authorization: Bearer.' : 'Needs no access token.'} GraphQL twin:{' '}
          <code>{twin}</code>{' '}
          <Link to={`/?${new URLSearchParams({ route: `${method} ${path}` })}`}>Compare the two</Link>
        </p>
        {parameters.length > 0 && <FieldTable caption="Parameters" fields={parameters} />}
        {body.length > 0 && <FieldTable caption="Body (JSON)" fields={body} />}
        {answer && (
          <>
            <h3>
              <span className="status good">200</span> {answer.description}
            </h3>
            {answer.fields.length > 0 && (
              <FieldTable
                caption={answer.isArray ? 'Every element, as far as it has them' : 'Answer'}
                fields={answer.fields}
              />
            )}
            {answer.headers.length > 0 && <p className="note">Headers: {answer.headers.join(', ')}</p>}
          </>
        )}
        <details>
          <summary>Other answers: {failures.map(({ status }) => status).join(', ')}</summary>
          <table className="fields">
            <tbody>
              {failures.map(({ status, description }) => (
                <tr key={status}>
                  <th scope="row">
                    <span className={`status ${status === '304' ? 'good' : 'bad'}`}>{status}</span>
                  </th>
                  <td>
                    <WithCode text={description} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      </div>
      <div className="samples">
        {route && (
          <SnippetView
            call={restCall({ route, value: example, headers: sentHeaders(draft.headers) }, url)}
            signIn={{ url, email }}
            label={`Sample of ${method} ${path}`}
          />
        )}
        {answer?.example !== undefined && (
          <details className="example">
            <summary>Example answer</summary>
            <TextView
              text={JSON.stringify(answer.example)}
              label={`Example answer of ${method} ${path}`}
              language="json"
              fileName="example.json"
            />
          </details>
        )}
        {route && <TryIt id={id} route={route} projects={projects} draft={draft} onDraft={onDraft} />}
      </div>
    </section>
  )
}
