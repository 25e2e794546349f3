// A list of thousands that stays smooth: searched, sorted, and drawn only where it is in sight.
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useDeferredValue, useId, useMemo, useRef, useState } from 'react'
import { Link } from '../navigation.tsx'
import { addressOf } from './addresses.ts'
import { arranged, dateText, type Item, isSort, type Kind, SORTS, type Sort } from './items.ts'

const ROW_HEIGHT = 68

interface ItemListProps {
  readonly items: readonly Item[]
  readonly kind: Kind
}

export function ItemList({ items, kind }: ItemListProps): ReactNode {
  const [search, setSearch] = useState('')
  const [sort, setSort] = useState<Sort>('stored')
  const [searchId, sortId] = [useId(), useId()]
  const scroller = useRef<HTMLDivElement>(null)
  const words = useDeferredValue(search)
  const shown = useMemo(() => arranged(items, words, sort), [items, words, sort])
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
  })
  return (
    <>
      <div className="filters">
        <label htmlFor={searchId}>Search</label>
        <input id={searchId} type="search" value={search} onChange={(event) => setSearch(event.target.value)} />
        <label htmlFor={sortId}>Sort by</label>
        <select id={sortId} value={sort} onChange={({ target }) => isSort(target.value) && setSort(target.value)}>
          {Object.entries(SORTS).map(([name, { label }]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
        <span className="note" role="status">
          {shown.length === items.length ? `${items.length} in all` : `${shown.length} of ${items.length}`}
        </span>
      </div>
      <div ref={scroller} className="items">
        <ul style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const item = shown[index]
            if (!item) return null
            return (
              <li key={item.key} style={{ transform: `translateY(${start}px)`, height: ROW_HEIGHT }}>
                <Link to={addressOf(kind, item.key)} className="item">
                  <span className="name">{item.name}</span>
                  <span className="meta">{[item.framework, item.version].filter(Boolean).join(' ')}</span>
                  <span className="description">{item.description}</span>
                  <span className="meta">{[item.detail, dateText(item.changedAt)].filter(Boolean).join(' · ')}</span>
                </Link>
              </li>
            )
          })}
        </ul>
        {shown.length === 0 && <p className="note pad">Nothing fits.</p>}
      </div>
    </>
  )
}
