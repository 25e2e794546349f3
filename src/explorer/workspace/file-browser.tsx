// The files of an export: a tree beside the text of one. What users stored is only ever shown as text.
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { LinesView } from '../lines-view.tsx'
import { rowsOf, type TreeRow, treeOf } from './file-tree.ts'
import type { Element } from './project.ts'

const ROW_HEIGHT = 28

export function FileBrowser({ elements }: { readonly elements: readonly Element[] }): ReactNode {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set())
  const tree = useMemo(() => treeOf(elements), [elements])
  const rows = useMemo(() => rowsOf(tree, folded), [tree, folded])
  const [chosen, setChosen] = useState(() => rows.find(({ element }) => element)?.element ?? null)
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  })

  function open({ folder, element }: TreeRow): void {
    if (element) setChosen(element)
    else if (folder !== null)
      setFolded(new Set(folded.has(folder) ? [...folded].filter((path) => path !== folder) : [...folded, folder]))
  }

  return (
    <div className="browser">
      <div ref={scroller} className="tree">
        <ul aria-label="Files" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index]
            if (!row) return null
            const isFolded = row.folder !== null && folded.has(row.folder)
            return (
              <li key={index} style={{ transform: `translateY(${start}px)`, height: ROW_HEIGHT }}>
                <button
                  type="button"
                  className={row.folder === null ? 'file' : 'folder'}
                  style={{ paddingLeft: 10 + row.depth * 14 }}
                  aria-expanded={row.folder === null ? undefined : !isFolded}
                  aria-current={row.element !== null && row.element === chosen ? 'true' : undefined}
                  onClick={() => open(row)}
                >
                  {row.folder !== null && <span aria-hidden="true">{isFolded ? '▸' : '▾'} </span>}
                  {row.name}
                </button>
              </li>
            )
          })}
        </ul>
      </div>
      <div className="preview">
        {chosen && (
          <>
            <p className="facts">{chosen.path}</p>
            <LinesView key={chosen.path} text={chosen.content} label={chosen.path} isJson={!chosen.isFile} />
          </>
        )}
      </div>
    </div>
  )
}
