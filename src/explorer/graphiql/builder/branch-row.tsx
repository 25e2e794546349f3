// A row of the query builder: the checkbox of a field, its arguments, and its subfields.
import { Kind } from 'graphql'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import {
  argumentAt,
  type Edited,
  selectionAt,
  withArgument,
  withField,
  withoutArgument,
  withoutField,
} from './query-edit.ts'
import type { Branch } from './schema-branches.ts'

interface BranchRowProps {
  readonly edited: Edited
  readonly operationType: string
  readonly path: readonly Branch[]
  readonly branch: Branch
  readonly onEdit: (text: string) => void
}

export function BranchRow({ edited, operationType, path: above, branch, onEdit }: BranchRowProps): ReactNode {
  const path = [...above, branch]
  const selection = selectionAt(edited, path)
  const isSelected = selection !== null
  const canOpen = branch.leaf !== null || branch.arguments.length > 0
  // Expanded while the field is selected, until the person collapses or expands it.
  const [chosen, setChosen] = useState<boolean | null>(null)
  const isOpen = canOpen && (chosen ?? isSelected)
  const title = branch.kind === 'type' ? `… on ${branch.name}` : branch.name

  function toggle(): void {
    setChosen(isSelected ? null : canOpen)
    onEdit(isSelected ? withoutField(edited, path) : withField(edited, operationType, path))
  }

  return (
    <li>
      <div className="branch">
        {canOpen ? (
          <button type="button" className="icon" aria-expanded={isOpen} onClick={() => setChosen(!isOpen)}>
            {isOpen ? <ChevronDown size={14} aria-hidden="true" /> : <ChevronRight size={14} aria-hidden="true" />}
            <span className="unseen">Inside {title}</span>
          </button>
        ) : (
          <span className="no-branch" />
        )}
        <label className="check" title={branch.description}>
          <input type="checkbox" checked={isSelected} onChange={toggle} />
          <span>
            {title} <span className="branch-type">{branch.type}</span>
          </span>
        </label>
      </div>
      {isOpen && (
        <ul>
          {branch.arguments.map((argument) => {
            const field = selection?.kind === Kind.FIELD ? selection : null
            const given = argumentAt(selection, argument.name)
            return (
              <li key={`(${argument.name}`}>
                <label className="check argument" title={argument.description ?? ''}>
                  <input
                    type="checkbox"
                    checked={given !== null}
                    disabled={field === null}
                    onChange={() => {
                      if (field) {
                        onEdit(given ? withoutArgument(edited, field, given) : withArgument(edited, field, argument))
                      }
                    }}
                  />
                  <span>
                    {argument.name}: <span className="branch-type">{String(argument.type)}</span>
                  </span>
                </label>
              </li>
            )
          })}
          {branch.branches().map((inner) => (
            <BranchRow
              key={inner.kind + inner.name}
              edited={edited}
              operationType={operationType}
              path={path}
              branch={inner}
              onEdit={onEdit}
            />
          ))}
        </ul>
      )}
    </li>
  )
}
