// The list of files that differ between two exports; it renders only the visible rows.
import { type ReactNode, useRef } from 'react'
import { LeftOut } from '../rows/left-out.tsx'
import { useListRows } from '../rows/use-list-rows.ts'
import { useRowKeys } from '../rows/use-row-keys.ts'
import type { Change } from './changes.ts'

const ROW_HEIGHT = 34
const TONES = { added: 'good', removed: 'bad', changed: 'warn' } as const

interface ChangeListProps {
  readonly changes: readonly Change[]
  /** Undefined when the file of the address does not differ. */
  readonly chosen: Change | undefined
  readonly onChoose: (path: string) => void
}

export function ChangeList({ changes, chosen, onChoose }: ChangeListProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null)
  const { virtual, height, placeOf, leftOut } = useListRows({
    scroller,
    count: changes.length,
    rowHeight: ROW_HEIGHT,
    overscan: 12,
    initialOffset: () => (chosen ? Math.max(0, changes.indexOf(chosen) - 6) * ROW_HEIGHT : 0),
  })
  const keys = useRowKeys(virtual, changes.length)
  return (
    <div ref={scroller} className="changes">
      <ul style={height} aria-label="Files that differ" {...keys.list}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const change = changes[index]
          if (!change) return null
          const { kind, path } = change
          return (
            <li
              key={path}
              data-row={index}
              aria-setsize={changes.length}
              aria-posinset={index + 1}
              style={placeOf(start)}
            >
              <button
                type="button"
                tabIndex={keys.tabIndexOf(index)}
                aria-current={change === chosen ? 'true' : undefined}
                onClick={() => onChoose(path)}
              >
                <span className={`badge ${TONES[kind]}`}>{kind}</span> <bdi>{path}</bdi>
              </button>
            </li>
          )
        })}
      </ul>
      <LeftOut count={leftOut} />
    </div>
  )
}
