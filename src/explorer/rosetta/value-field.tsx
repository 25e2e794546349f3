// The input of a route: a project reference, or the email of a login.
import { type KeyboardEvent, type ReactNode, useId } from 'react'
import type { ExplorerRoute } from '../../pages/explorer-config.ts'
import type { ComboBoxProps } from '../design/combo-box.tsx'
import { lazyPart } from '../frame/lazy-part.tsx'
import type { ProjectChoice } from './use-project-choices.ts'

const ComboBox = lazyPart<ComboBoxProps>(async () => (await import('../design/combo-box.tsx')).ComboBox)

interface ValueFieldProps {
  readonly route: ExplorerRoute
  readonly value: string
  readonly projects: readonly ProjectChoice[]
  readonly onChange: (value: string) => void
  readonly onEnter: (value: string) => void
}

export function ValueField({ route, value, projects, onChange, onEnter }: ValueFieldProps): ReactNode {
  const inputId = useId()
  if (route.parameter === null && route.field !== 'email') return null
  if (route.parameter !== null) {
    return (
      <div className="value">
        <ComboBox
          label={
            <>
              <code>{route.parameter}</code> reference of a project
            </>
          }
          value={value}
          suggestions={projects.map(({ ref, name, hasExport }) => ({
            value: ref,
            name,
            note: hasExport ? 'has an export' : 'no export yet',
          }))}
          onChange={onChange}
          onEnter={onEnter}
        />
      </div>
    )
  }
  function runOnEnter(event: KeyboardEvent): void {
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) onEnter(value)
  }
  return (
    <div className="value combo">
      <label htmlFor={inputId}>
        <code>{route.field}</code> whose session to open
      </label>
      <input
        id={inputId}
        value={value}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={runOnEnter}
      />
    </div>
  )
}
