// The filters and the sort order of a list; their state is in the address.
import { type ReactNode, type RefObject, useId, useMemo } from 'react'
import { type Item, type Kind, SORTS, type Sort, sortsOf } from './items.ts'
import { compareNames } from './natural-order.ts'

interface ItemFiltersProps {
  readonly items: readonly Item[]
  readonly kind: Kind
  readonly shownCount: number
  readonly search: string
  readonly searchField: RefObject<HTMLInputElement | null>
  readonly sort: Sort
  readonly framework: string
  readonly isExported: boolean
  readonly onSearch: (search: string) => void
  readonly onChange: (changes: Readonly<Record<string, string | null>>) => void
}

export function ItemFilters(props: ItemFiltersProps): ReactNode {
  const { items, kind, shownCount, search, searchField, sort, framework, isExported, onSearch, onChange } = props
  const [searchId, sortId, frameworkId] = [useId(), useId(), useId()]
  const frameworks = useMemo(
    () => [...new Set(items.map((item) => item.framework))].filter(Boolean).sort(compareNames),
    [items],
  )
  const all = items.length.toLocaleString()
  return (
    <div className="filters">
      <label htmlFor={searchId}>Search</label>
      <input
        ref={searchField}
        id={searchId}
        type="search"
        value={search}
        onChange={({ target }) => onSearch(target.value)}
      />
      <label htmlFor={sortId}>Sort by</label>
      <select id={sortId} value={sort} onChange={({ target }) => onChange({ sort: target.value })}>
        {sortsOf(kind).map((name) => (
          <option key={name} value={name}>
            {SORTS[name].label}
          </option>
        ))}
      </select>
      {frameworks.length > 1 && (
        <>
          <label htmlFor={frameworkId}>Framework</label>
          <select id={frameworkId} value={framework} onChange={({ target }) => onChange({ framework: target.value })}>
            <option value="">Any</option>
            {frameworks.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </>
      )}
      {kind === 'projects' && (
        <label className="check">
          <input
            type="checkbox"
            checked={isExported}
            onChange={({ target }) => onChange({ exported: target.checked ? 'yes' : null })}
          />
          With an export
        </label>
      )}
      <span className="note" role="status">
        {shownCount === items.length ? `${all} in all` : `${shownCount.toLocaleString()} of ${all}`}
      </span>
    </div>
  )
}
