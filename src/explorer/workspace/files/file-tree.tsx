// The file tree: one tab stop, navigation with the arrow keys, and only the visible rows rendered.
import { useVirtualizer } from '@tanstack/react-virtual'
import { Braces, ChevronDown, ChevronRight, FileCode, FileImage, FileText } from 'lucide-react'
import { type KeyboardEvent, type MouseEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { extensionOf, IMAGE_TYPES, languageOf } from '../../text/languages.ts'
import type { Element } from '../project/elements.ts'
import { visibleName } from '../shown-name.ts'
import type { TreeRow } from './tree.ts'

const ROW_HEIGHT = 28
/** Rows that are deeper are not indented further: their names would be beyond the edge of the tree. */
const MOST_INDENTED = 10

interface FileTreeProps {
  readonly rows: readonly TreeRow[]
  readonly chosen: Element | null
  readonly isUnfolded: (folder: string) => boolean
  readonly onFold: (folder: string, isOpen: boolean) => void
  readonly onChoose: (element: Element) => void
}

export function FileTree({ rows, chosen, isUnfolded, onFold, onChoose }: FileTreeProps): ReactNode {
  const treeId = useId()
  const scroller = useRef<HTMLDivElement>(null)
  const [focused, setFocused] = useState<number | null>(null)
  const chosenAt = rows.findIndex(({ element }) => element !== null && element === chosen)
  const at = Math.min(focused ?? Math.max(0, chosenAt), rows.length - 1)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
    initialOffset: () => Math.max(0, chosenAt - 6) * ROW_HEIGHT,
  })

  const shown = useRef(chosen)
  // Scroll to a file that was selected elsewhere; folding must not scroll.
  useEffect(() => {
    if (shown.current === chosen || chosenAt === -1) return
    shown.current = chosen
    setFocused(null)
    virtual.scrollToIndex(chosenAt)
  }, [chosen, chosenAt, virtual])

  function act(row: TreeRow | undefined): void {
    if (row?.element) onChoose(row.element)
    else if (row?.folder) onFold(row.folder, !isUnfolded(row.folder))
  }

  function choose({ target }: MouseEvent): void {
    const item = target instanceof HTMLElement || target instanceof SVGElement ? target.closest('[data-index]') : null
    const index = Number(item?.getAttribute('data-index') ?? -1)
    if (index < 0) return
    setFocused(index)
    act(rows[index])
    scroller.current?.focus({ preventScroll: true })
  }

  function move(to: number): void {
    const next = Math.min(Math.max(to, 0), rows.length - 1)
    setFocused(next)
    virtual.scrollToIndex(next)
  }

  function steer(event: KeyboardEvent): void {
    const row = rows[at]
    const isOpen = row?.folder != null && isUnfolded(row.folder)
    const steps: Readonly<Record<string, () => void>> = {
      ArrowDown: () => move(at + 1),
      ArrowUp: () => move(at - 1),
      Home: () => move(0),
      End: () => move(rows.length - 1),
      PageDown: () => move(at + 15),
      PageUp: () => move(at - 15),
      ArrowRight: () => (row?.folder && !isOpen ? onFold(row.folder, true) : move(at + 1)),
      ArrowLeft: () => (row?.folder && isOpen ? onFold(row.folder, false) : move(parentOf(rows, at))),
      Enter: () => act(row),
      ' ': () => act(row),
    }
    const step = steps[event.key]
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    step()
  }

  return (
    <div
      ref={scroller}
      className="tree"
      role="tree"
      aria-label="Files"
      tabIndex={0}
      aria-activedescendant={rows.length > 0 ? `${treeId}-${at}` : undefined}
      onKeyDown={steer}
      onClick={choose}
    >
      <div role="presentation" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index]
          if (!row) return null
          const isOpen = row.folder !== null && isUnfolded(row.folder)
          return (
            <div
              key={row.folder ?? `file ${row.element?.path} ${index}`}
              id={`${treeId}-${index}`}
              role="treeitem"
              className={`${row.folder === null ? 'file' : 'folder'}${index === at ? ' at' : ''}`}
              style={{ transform: `translateY(${start}px)`, paddingLeft: 10 + Math.min(row.depth, MOST_INDENTED) * 14 }}
              aria-level={row.depth + 1}
              aria-setsize={row.size}
              aria-posinset={row.position}
              aria-expanded={row.folder === null ? undefined : isOpen}
              aria-selected={index === chosenAt}
              tabIndex={-1}
              data-index={index}
            >
              <RowIcon row={row} isOpen={isOpen} /> <bdi>{visibleName(row.name)}</bdi>
            </div>
          )
        })}
      </div>
    </div>
  )
}

function RowIcon({ row, isOpen }: { readonly row: TreeRow; readonly isOpen: boolean }): ReactNode {
  const language = languageOf(row.name)
  const Icon =
    row.folder !== null
      ? isOpen
        ? ChevronDown
        : ChevronRight
      : extensionOf(row.name) in IMAGE_TYPES
        ? FileImage
        : language === 'json'
          ? Braces
          : language === 'text' || language === 'markdown'
            ? FileText
            : FileCode
  return <Icon size={14} aria-hidden="true" />
}

function parentOf(rows: readonly TreeRow[], at: number): number {
  const depth = rows[at]?.depth ?? 0
  for (let index = at - 1; index >= 0; index -= 1) if ((rows[index]?.depth ?? 0) < depth) return index
  return at
}
