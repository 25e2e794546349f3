// The one thing a row may be asked with: a project's reference, or the email of a login.
import { type ReactNode, useId } from 'react'
import type { ExplorerRoute } from '../../pages/explorer-config.ts'

interface ValueFieldProps {
  readonly route: ExplorerRoute
  readonly value: string
  readonly refs: readonly string[]
  readonly onChange: (value: string) => void
}

export function ValueField({ route, value, refs, onChange }: ValueFieldProps): ReactNode {
  const [inputId, listId] = [useId(), useId()]
  if (route.parameter === null && route.field !== 'email') return null
  const isReference = route.parameter !== null
  return (
    <div className="value">
      <label htmlFor={inputId}>
        <code>{route.parameter ?? route.field}</code> {isReference ? 'reference of a project' : 'whose session to open'}
      </label>
      <input
        id={inputId}
        list={isReference ? listId : undefined}
        value={value}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
      />
      {isReference && (
        <datalist id={listId}>
          {refs.map((ref) => (
            <option key={ref} value={ref} />
          ))}
        </datalist>
      )}
    </div>
  )
}
