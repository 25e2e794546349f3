// The list of a project's exports: open any of them, or choose two to compare.
import { GitCompare, PackageOpen } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { EmptyState } from '../../design/empty-state.tsx'
import { exactDate } from '../../design/moment.ts'
import { When } from '../../design/when.tsx'
import { Link } from '../../frame/navigation/link.tsx'
import { useExplorer } from '../../frame/use-explorer.ts'
import { addressOf, useAddressParameters } from '../addresses.ts'
import { exportSize } from '../items.ts'
import { LeftOut } from '../rows/left-out.tsx'
import { offsetOf, rowIn } from '../rows/list-rows.ts'
import { RowKeysHint } from '../rows/row-keys-hint.tsx'
import { useListRows } from '../rows/use-list-rows.ts'
import { useRowKeys } from '../rows/use-row-keys.ts'
import { type ExportFacts, exportKey, type Project } from './project.ts'

const ROW_HEIGHT = 46

export function ExportList({ project }: { readonly project: Project }): ReactNode {
  const { navigation } = useExplorer()
  const { exports, ref } = project
  const [parameters, , writeSoon] = useAddressParameters()
  const [marked, setMarked] = useState<readonly ExportFacts[]>([])
  const scroller = useRef<HTMLDivElement>(null)
  const { virtual, height, placeOf, leftOut } = useListRows({
    scroller,
    count: exports.length,
    rowHeight: ROW_HEIGHT,
    overscan: 10,
    initialOffset: offsetOf(parameters.get('row'), ROW_HEIGHT),
  })
  const keys = useRowKeys(virtual, exports.length)
  if (exports.length === 0) {
    return (
      <EmptyState Icon={PackageOpen} title="No export yet">
        <p>This project has no export yet.</p>
      </EmptyState>
    )
  }

  const canCompare = exports.length > 1

  function mark(facts: ExportFacts): void {
    setMarked(marked.includes(facts) ? marked.filter((one) => one !== facts) : [...marked.slice(-1), facts])
  }

  function compare(): void {
    const [newer, older] = marked.toSorted((a, b) => exports.indexOf(a) - exports.indexOf(b))
    if (!newer || !older) return
    navigation.go(
      addressOf({ kind: 'projects', opened: ref, tab: 'exports', export: exportKey(newer), with: exportKey(older) }),
    )
  }

  return (
    <>
      {canCompare && (
        <div className="filters">
          <button type="button" disabled={marked.length !== 2} onClick={compare}>
            <GitCompare size={15} aria-hidden="true" /> Compare
          </button>
          <span className="note" role="status">
            {marked.length === 2 ? 'Two are chosen.' : 'Choose two exports to compare them.'}
          </span>
          <RowKeysHint />
        </div>
      )}
      <div
        ref={scroller}
        className="items exports"
        onScroll={({ currentTarget }) => writeSoon({ row: rowIn(currentTarget.scrollTop, ROW_HEIGHT) })}
      >
        <ul style={height} aria-label="Exports" {...keys.list}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const facts = exports[index]
            if (!facts) return null
            const name = exactDate(facts.createdAt)
            return (
              <li
                key={exportKey(facts)}
                data-row={index}
                aria-setsize={exports.length}
                aria-posinset={index + 1}
                style={placeOf(start)}
              >
                {/* The placeholder keeps the column. */}
                {canCompare ? (
                  <input
                    type="checkbox"
                    tabIndex={keys.tabIndexOf(index)}
                    aria-label={`Compare the export of ${name}`}
                    checked={marked.includes(facts)}
                    onChange={() => mark(facts)}
                  />
                ) : (
                  <span />
                )}
                <Link
                  to={addressOf({ kind: 'projects', opened: ref, tab: 'files', export: exportKey(facts) })}
                  tabIndex={keys.tabIndexOf(index)}
                >
                  {name}
                </Link>
                <span className="note">
                  <When at={facts.createdAt} />
                </span>
                <span className="note">{exportSize(facts)}</span>
                <code title={facts.digest}>{facts.digest.slice(0, 12)}</code>
                {index === 0 && <span className="badge good">newest</span>}
              </li>
            )
          })}
        </ul>
        <LeftOut count={leftOut} />
      </div>
    </>
  )
}
