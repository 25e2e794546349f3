// The editor for custom request headers; it explains why a header is not sent.
import { Plus, X } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react'
import { IconButton } from '../design/icon-button.tsx'
import { faultOf, type HeaderField } from './own-headers.ts'

interface HeaderFieldsProps {
  /** Names the operation in accessible labels. */
  readonly label: string
  readonly fields: readonly HeaderField[]
  readonly onChange: (fields: readonly HeaderField[]) => void
  readonly onEnter: () => void
  /** A sentence about the headers that the page sends by itself. */
  readonly children: ReactNode
}

/** Header names that are useful with this API. */
const SUGGESTED = ['Accept', 'Authorization', 'Gateway-Trace', 'If-None-Match', 'Traceparent', 'X-Request-Id']

export function HeaderFields({ label, fields, onChange, onEnter, children }: HeaderFieldsProps): ReactNode {
  const suggestionsId = useId()
  const adding = useRef<HTMLButtonElement>(null)
  const [added, setAdded] = useState<number | null>(null)

  function change(id: number, part: Partial<HeaderField>): void {
    onChange(fields.map((field) => (field.id === id ? { ...field, ...part } : field)))
  }

  function add(): void {
    const id = 1 + Math.max(0, ...fields.map((field) => field.id))
    setAdded(id)
    onChange([...fields, { id, name: '', value: '' }])
  }

  /** Moves the focus to the add button, because the focused field disappears. */
  function remove(id: number): void {
    onChange(fields.filter((field) => field.id !== id))
    adding.current?.focus()
  }

  function runOnEnter(event: KeyboardEvent): void {
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) onEnter()
  }

  return (
    <details className="own-headers">
      <summary>Request headers{fields.length > 0 && ` (${fields.length})`}</summary>
      <ul>
        {fields.map((field, index) => {
          const fault = faultOf(field)
          const faultId = `${suggestionsId}-${field.id}`
          const about = {
            spellCheck: false,
            autoCapitalize: 'off',
            autoComplete: 'off',
            'aria-invalid': fault !== null,
            'aria-describedby': fault === null ? undefined : faultId,
            onKeyDown: runOnEnter,
          } as const
          return (
            <li key={field.id}>
              <input
                {...about}
                ref={field.id === added ? focus : undefined}
                aria-label={`Name of header ${index + 1}, ${label}`}
                placeholder="Name"
                list={suggestionsId}
                value={field.name}
                onChange={({ target }) => change(field.id, { name: target.value.trim() })}
              />
              <input
                {...about}
                aria-label={`Value of header ${index + 1}, ${label}`}
                placeholder="Value"
                value={field.value}
                onChange={({ target }) => change(field.id, { value: target.value })}
              />
              <IconButton
                icon={X}
                title="Remove"
                onClick={() => remove(field.id)}
                label={`Remove header ${index + 1}, ${label}`}
              />
              {fault !== null && (
                <p id={faultId} className="fault" role="status">
                  {fault}
                </p>
              )}
            </li>
          )
        })}
      </ul>
      <datalist id={suggestionsId}>
        {SUGGESTED.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <button ref={adding} type="button" className="small" onClick={add}>
        <Plus size={14} aria-hidden="true" /> Add a header<span className="unseen">: {label}</span>
      </button>
      <p className="note">{children}</p>
    </details>
  )
}

/** A ref callback: focuses the new field once, when it is mounted. */
function focus(input: HTMLInputElement | null): void {
  input?.focus()
}
