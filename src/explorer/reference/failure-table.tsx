// The table of error codes: status, meaning, and what the caller can do.
import type { ReactNode } from 'react'
import type { ShownFailure } from './openapi.ts'
import { WithCode } from './with-code.tsx'

interface FailureTableProps {
  readonly failures: readonly ShownFailure[]
  /** Search words; rows that contain all of them are shown. */
  readonly words: string
}

export function FailureTable({ failures, words }: FailureTableProps): ReactNode {
  const wanted = words.toLowerCase().split(/\s+/)
  const found = failures.filter(({ code, status, message, advice }) => {
    const text = `${code} ${status} ${message} ${advice}`.toLowerCase()
    return wanted.every((word) => text.includes(word))
  })
  // A search for an operation matches no code; then all codes are shown.
  const shown = found.length === 0 ? failures : found
  return (
    <table className="fields codes">
      <caption>
        Codes <span className="count">{shown.length}</span>
      </caption>
      <thead>
        <tr>
          <th scope="col">Status</th>
          <th scope="col">Code</th>
          <th scope="col">Meaning</th>
          <th scope="col">What to do</th>
        </tr>
      </thead>
      <tbody>
        {shown.map(({ code, status, message, advice }) => (
          <tr key={code}>
            <td>
              <span className="status bad">{status}</span>
            </td>
            <th scope="row">
              <code>{code}</code>
            </th>
            <td>
              <WithCode text={message} />
            </td>
            <td>
              <WithCode text={advice} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
