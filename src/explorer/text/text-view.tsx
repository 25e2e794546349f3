// Shows a text of any length with its toolbar; only the visible rows are rendered.
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type ClipboardEvent,
  type KeyboardEvent,
  type ReactNode,
  useDeferredValue,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react'
import { Failure } from '../design/failure.tsx'
import { Skeleton } from '../design/skeleton.tsx'
import { findAll, withoutCase } from './find.ts'
import type { Language } from './languages.ts'
import { PrintedText } from './printed-text.tsx'
import { Row } from './row.tsx'
import { raisedBy, TALLEST, useTallScroller } from './scroll/use-tall-scroller.ts'
import { foldable, rowAt, type Sheet, visibleRows } from './sheet.ts'
import { TextTools } from './text-tools.tsx'
import { canFold, FOLD_KEYS, foldedText, foldName, useFoldKeys } from './use-fold-keys.ts'
import { type LinePlace, useLinePlace } from './use-line-place.ts'
import { useSheet } from './use-sheet.ts'
import './text-view.css'

const ROW_HEIGHT = 19
const NOTHING_FOLDED: ReadonlySet<number> = new Set()
const EMPTY: Sheet = {
  text: '',
  starts: new Uint32Array(),
  ends: new Uint32Array(),
  numbers: new Uint32Array(),
  closes: new Uint32Array(),
  width: 0,
}

interface TextViewProps {
  readonly text: string
  readonly label: string
  readonly language: Language
  readonly fileName: string
  /** Reads and stores the first visible line; undefined if it is not stored. */
  readonly place?: LinePlace
  /** Shown in the toolbar, before the buttons. */
  readonly children?: ReactNode
}

export function TextView({ text, label, language, fileName, place, children }: TextViewProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null)
  const laidOut = useSheet(text, language)
  const sheet = laidOut.sheet ?? EMPTY
  const isJson = language === 'json'
  const [isWrapped, setWrapped] = useState(false)
  const [folds, setFolds] = useState({ sheet, rows: NOTHING_FOLDED })
  const folded = folds.sheet === sheet ? folds.rows : NOTHING_FOLDED
  const rows = useMemo(() => visibleRows(sheet, folded), [sheet, folded])
  const [words, setWords] = useState<string | null>(null)
  const [step, setStep] = useState(0)
  const isFinding = words !== null
  const lowerText = useMemo(() => (isFinding ? withoutCase(sheet.text) : ''), [sheet, isFinding])
  const wanted = useDeferredValue(words ?? '')
  const found = useMemo(() => findAll(lowerText, wanted), [lowerText, wanted])
  // The text may have changed since the step was chosen.
  const at = Math.min(step, Math.max(0, found.offsets.length - 1))
  const current = found.offsets[at] ?? -1

  useTallScroller(scroller, rows.length * ROW_HEIGHT > TALLEST, () => virtual.getTotalSize())
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 20,
  })
  const noteLine = useLinePlace(place, {
    sheet: laidOut.sheet,
    rows,
    scroller,
    rowHeight: ROW_HEIGHT,
    indexAt: (offset) => virtual.getVirtualItemForOffset(offset)?.index ?? 0,
  })
  useEffect(() => {
    if (current === -1) return
    setFolds({ sheet, rows: NOTHING_FOLDED })
    virtual.scrollToIndex(rowAt(sheet, current), { align: 'center' })
  }, [current, sheet, virtual])

  function look(next: string | null): void {
    setWords(next)
    setStep(0)
    // The focused find field disappears, so the focus moves to the text that it searched.
    if (next === null) scroller.current?.focus({ preventScroll: true })
  }

  function findOnKey(event: KeyboardEvent): void {
    if (event.key !== 'f' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    setWords(words ?? '')
    // Select the content of a find field that is already open; a new one takes the focus when it is mounted.
    event.currentTarget.querySelector<HTMLInputElement>('.find input')?.select()
  }

  function selectOnKey(event: KeyboardEvent<HTMLElement>): void {
    if (event.key !== 'a' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
    event.preventDefault()
    getSelection()?.selectAllChildren(event.currentTarget)
  }

  /** Copies the whole text if `selectOnKey` has selected it: the browser would copy only the rows that are rendered. */
  function copyWhole(event: ClipboardEvent<HTMLElement>): void {
    const selection = getSelection()
    if (selection?.anchorNode !== event.currentTarget || selection.focusNode !== event.currentTarget) return
    event.preventDefault()
    event.clipboardData.setData('text/plain', text)
  }

  function fold(row: number): void {
    const next = new Set(folded)
    if (!next.delete(row)) next.add(row)
    setFolds({ sheet, rows: next })
  }

  const foldKeys = useFoldKeys({ sheet, rows, folded, fold, virtual })
  const hintId = useId()
  const drawnHeight = Math.min(virtual.getTotalSize(), TALLEST)
  const raised = raisedBy(scroller.current)
  const digits = String(sheet.numbers.length).length
  const hasFolds = isJson && sheet.closes.some((_, row) => row > 0 && canFold(sheet, row))
  return (
    <fieldset className="text-view" aria-label={label} onKeyDown={findOnKey}>
      <TextTools
        label={label}
        text={text}
        fileName={fileName}
        isWrapped={isWrapped}
        onWrap={() => {
          setWrapped(!isWrapped)
          // Wrapping changes the row heights, so measure them again.
          virtual.measure()
        }}
        folding={
          hasFolds
            ? {
                isFolded: folded.size > 0,
                toggle: () => setFolds({ sheet, rows: folded.size > 0 ? NOTHING_FOLDED : foldable(sheet) }),
              }
            : null
        }
        words={words}
        onWords={look}
        found={wanted === words ? found : null}
        at={at}
        onStep={(by) => setStep((at + by + found.offsets.length) % Math.max(1, found.offsets.length))}
      >
        {children}
        {hasFolds && (
          <span id={hintId} className="fold-hint">
            {FOLD_KEYS}
          </span>
        )}
      </TextTools>
      {laidOut.sheet === null &&
        (laidOut.retry ? (
          <Failure
            title="This text could not be laid out"
            message="It is long: the code for long texts could not be loaded, or it failed. The text can be copied and downloaded all the same."
            onRetry={laidOut.retry}
          />
        ) : (
          <Skeleton label="Laying out" />
        ))}
      <PrintedText text={sheet === EMPTY ? text : sheet.text} label={label} />
      <section
        ref={scroller}
        className={isWrapped ? 'lines wrapped' : 'lines'}
        aria-label={label}
        tabIndex={0}
        onScroll={noteLine}
        onKeyDown={(event) => {
          selectOnKey(event)
          foldKeys.onKeyDown(event)
        }}
        onCopy={copyWhole}
        style={{ '--gutter-width': `${digits + 3}ch`, height: `calc(${drawnHeight}px + 22px)` } as object}
      >
        <div
          className="sheet"
          style={{ height: drawnHeight, width: isWrapped ? '100%' : `${sheet.width + digits + 6}ch` }}
        >
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index] ?? 0
            return (
              <div
                key={row}
                data-index={index}
                ref={isWrapped ? virtual.measureElement : undefined}
                className="line"
                style={{ transform: `translateY(${start - raised}px)` }}
              >
                <span className="number">
                  {canFold(sheet, row) && (
                    <button
                      type="button"
                      tabIndex={foldKeys.tabIndexOf(row)}
                      className="fold"
                      data-fold={row}
                      aria-expanded={!folded.has(row)}
                      aria-label={foldName(sheet, row)}
                      aria-describedby={hintId}
                      onClick={() => fold(row)}
                    >
                      {folded.has(row) ? '▸' : '▾'}
                    </button>
                  )}
                  <span aria-hidden="true">{sheet.numbers[row] || '↪'}</span>
                </span>
                <span className="code">
                  <Row
                    sheet={sheet}
                    row={row}
                    isJson={isJson}
                    tokens={laidOut.tokens}
                    found={found}
                    current={current}
                  />
                  {folded.has(row) && <span className="folded"> … {foldedText(sheet, row)} </span>}
                </span>
              </div>
            )
          })}
        </div>
      </section>
    </fieldset>
  )
}
