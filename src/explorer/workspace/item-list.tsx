// A searchable, sortable list that renders only its visible rows, so that thousands of items stay smooth.
import { Inbox, SearchX } from 'lucide-react'
import { type ReactNode, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import { EmptyState } from '../design/empty-state.tsx'
import { When } from '../design/when.tsx'
import { Link } from '../frame/navigation/link.tsx'
import { useExplorer } from '../frame/use-explorer.ts'
import { addressOf, type Changes, useAddressParameters, type WriteAddress } from './addresses.ts'
import { ItemFilters } from './item-filters.tsx'
import { arranged, type Item, KIND_LABELS, type Kind, sortsOf } from './items.ts'
import { LeftOut } from './rows/left-out.tsx'
import { offsetOf, rowIn } from './rows/list-rows.ts'
import { RowKeysHint } from './rows/row-keys-hint.tsx'
import { useListRows } from './rows/use-list-rows.ts'
import { useRowKeys } from './rows/use-row-keys.ts'

const ROW_HEIGHT = 68

interface ItemListProps {
  readonly items: readonly Item[]
  readonly kind: Kind
}

export function ItemList({ items, kind }: ItemListProps): ReactNode {
  const { navigation, leftLists } = useExplorer()
  const [parameters, writeNow, writeSoon] = useAddressParameters()
  const sort = parameters.get('sort')
  const [search, setSearch] = useState(parameters.get('q') ?? '')
  const words = useDeferredValue(search)
  const framework = parameters.get('framework') ?? ''
  const isExported = parameters.get('exported') === 'yes'
  const order = sortsOf(kind).find((name) => name === sort) ?? 'changed'
  const shown = useMemo(
    () => arranged(items, { search: words, sort: order, framework, isExported }),
    [items, words, order, framework, isExported],
  )
  const scroller = useRef<HTMLDivElement>(null)
  const searchField = useRef<HTMLInputElement>(null)
  // Also record the address after a reload or a link, when nothing has changed yet.
  useEffect(() => void leftLists.set(kind, navigation.address()), [leftLists, kind, navigation])

  function noted(write: WriteAddress): WriteAddress {
    return (changes: Changes) => {
      write(changes)
      leftLists.set(kind, navigation.address())
    }
  }
  const write = noted(writeNow)
  const { virtual, height, placeOf, leftOut } = useListRows({
    scroller,
    count: shown.length,
    rowHeight: ROW_HEIGHT,
    overscan: 8,
    initialOffset: offsetOf(parameters.get('row'), ROW_HEIGHT),
  })
  const keys = useRowKeys(virtual, shown.length)
  if (items.length === 0)
    return <EmptyState Icon={Inbox} title={`No ${kind === 'libraries' ? KIND_LABELS[kind] : kind} here yet`} />
  return (
    <>
      <ItemFilters
        items={items}
        kind={kind}
        shownCount={shown.length}
        search={search}
        searchField={searchField}
        sort={order}
        framework={framework}
        isExported={isExported}
        onSearch={(next) => {
          setSearch(next)
          write({ q: next })
        }}
        onChange={write}
      />
      {shown.length === 0 && (
        <EmptyState Icon={SearchX} title="Nothing fits">
          <button
            type="button"
            onClick={() => {
              setSearch('')
              write({ q: null, framework: null, exported: null })
              // The pressed button disappears.
              searchField.current?.focus()
            }}
          >
            Show all
          </button>
        </EmptyState>
      )}
      <div
        ref={scroller}
        className="items"
        hidden={shown.length === 0}
        onScroll={({ currentTarget }) => noted(writeSoon)({ row: rowIn(currentTarget.scrollTop, ROW_HEIGHT) })}
      >
        <ul style={height} {...keys.list}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const item = shown[index]
            if (!item) return null
            return (
              <li
                key={item.key}
                data-row={index}
                aria-setsize={shown.length}
                aria-posinset={index + 1}
                style={placeOf(start)}
              >
                <Link to={addressOf({ kind, opened: item.key })} className="item" tabIndex={keys.tabIndexOf(index)}>
                  <bdi className="name">{item.name}</bdi>
                  <span className="meta">{[item.framework, item.version].filter(Boolean).join(' ')}</span>
                  <bdi className="description">{item.description}</bdi>
                  <span className="meta">
                    {item.detail}
                    <ItemDate item={item} isExport={order === 'exported'} />
                  </span>
                </Link>
              </li>
            )
          })}
        </ul>
        <LeftOut count={leftOut} />
      </div>
      <RowKeysHint />
    </>
  )
}

/** The date by which the list is sorted: of the newest export, or of the last change. */
function ItemDate({ item, isExport }: { readonly item: Item; readonly isExport: boolean }): ReactNode {
  const at = isExport ? item.exportedAt : item.changedAt
  if (at === '') return null
  return (
    <>
      {item.detail !== '' && ' · '}
      {isExport && 'exported '}
      <When at={at} />
    </>
  )
}
