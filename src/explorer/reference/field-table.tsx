// The table of the fields of a body or a response: name, type, required or not, description.
import type { ReactNode } from 'react'
import type { ShownField } from './openapi.ts'
import { WithCode } from './with-code.tsx'

interface FieldTableProps {
  readonly caption: string
  readonly fields: readonly (ShownField & { readonly in?: string })[]
}

export function FieldTable({ caption, fields }: FieldTableProps): ReactNode {
  return (
    <table className="fields">
      <caption>{caption}</caption>
      <thead className="unseen">
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        {fields.map(({ name, type, isRequired, description, values, in: place }) => (
          <tr key={name}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td>
              <span className="note">
                {type}
                {place !== undefined && `, ${place}`}
              </span>{' '}
              {isRequired && <span className="badge warn">required</span>} <WithCode text={description} />
              {values.length > 0 && (
                <span className="note values">
                  One of{' '}
                  {values.map((value) => (
                    <code key={value}>{value}</code>
                  ))}
                </span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
