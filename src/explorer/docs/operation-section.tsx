// One operation: what it takes, what it may answer, and a way to try it.
import type { ReactNode } from 'react'
import { LinesView } from '../lines-view.tsx'
import type { ShownOperation } from './openapi.ts'
import { TryIt } from './try-it.tsx'

interface OperationSectionProps {
  readonly operation: ShownOperation
  readonly refs: readonly string[]
}

export function OperationSection({ operation, refs }: OperationSectionProps): ReactNode {
  const { id, method, path, summary, twin, parameters, bodyExample, needsToken, responses } = operation
  const success = responses.find(({ status }) => status === '200')
  return (
    <section id={id} className="operation" aria-labelledby={`${id}-title`} tabIndex={-1}>
      <h2 id={`${id}-title`}>
        <span className={`method ${method.toLowerCase()}`}>{method}</span> <span className="path">{path}</span>
        <span className="title">{summary}</span>
      </h2>
      <dl>
        <dt>GraphQL twin</dt>
        <dd>
          <code>{twin}</code>
        </dd>
        <dt>Sign-in</dt>
        <dd>{needsToken ? 'An access token, as Authorization: Bearer' : 'None'}</dd>
        {bodyExample !== undefined && (
          <>
            <dt>Body</dt>
            <dd>
              <code>{JSON.stringify(bodyExample)}</code>
            </dd>
          </>
        )}
        {parameters.map((parameter) => (
          <div className="pair" key={parameter.name}>
            <dt>
              <code>{parameter.name}</code>
            </dt>
            <dd>
              {parameter.description} <span className="note">{parameter.in}</span>
              {parameter.required && <span className="note">, required</span>}
            </dd>
          </div>
        ))}
      </dl>
      <h3>Answers</h3>
      <table>
        <tbody>
          {responses.map(({ status, description }) => (
            <tr key={status}>
              <th scope="row">
                <span className={`status ${status.startsWith('2') || status === '304' ? 'good' : 'bad'}`}>
                  {status}
                </span>
              </th>
              <td>{withCode(description)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {success && success.properties.length > 0 && (
        <details>
          <summary>What is in the answer</summary>
          <dl>
            {success.properties.map(([name, description]) => (
              <div className="pair" key={name}>
                <dt>
                  <code>{name}</code>
                </dt>
                <dd>{withCode(description)}</dd>
              </div>
            ))}
          </dl>
          {success.example !== undefined && (
            <LinesView text={JSON.stringify(success.example)} label={`Example answer of ${method} ${path}`} isJson />
          )}
        </details>
      )}
      <TryIt method={method} path={path} refs={refs} />
    </section>
  )
}

/** What stands between backticks, as code. */
function withCode(text: string): ReactNode {
  return text.split('`').map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence never move
    index % 2 === 1 ? <code key={index}>{part}</code> : part,
  )
}
