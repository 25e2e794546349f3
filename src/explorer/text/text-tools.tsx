// The toolbar of a text: find, wrap, fold, copy, download.
import { ArrowDown, ArrowUp, ChevronsDownUp, ChevronsUpDown, Download, Search, WrapText, X } from 'lucide-react'
import type { KeyboardEvent, ReactNode } from 'react'
import { CopyButton } from '../design/copy-button.tsx'
import { IconButton } from '../design/icon-button.tsx'
import { useSaveFile } from '../design/save-file.ts'
import { type Found, MOST_MATCHES } from './find.ts'

interface TextToolsProps {
  readonly label: string
  readonly text: string
  readonly fileName: string
  readonly isWrapped: boolean
  readonly onWrap: () => void
  /** Null when there is nothing to fold. */
  readonly folding: { readonly isFolded: boolean; readonly toggle: () => void } | null
  /** The search words; null while the find field is closed. */
  readonly words: string | null
  readonly onWords: (words: string | null) => void
  /** Null while the words are searched. */
  readonly found: Found | null
  readonly at: number
  readonly onStep: (by: number) => void
  readonly children?: ReactNode
}

function takeFocus(field: HTMLElement | null): void {
  field?.focus()
}

export function TextTools(props: TextToolsProps): ReactNode {
  const { label, text, fileName, isWrapped, onWrap, folding, words, onWords, found, at, onStep, children } = props

  const saveFile = useSaveFile()

  function steer(event: KeyboardEvent): void {
    // An input method takes both keys, to end a word or to give it up.
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') onWords(null)
    else if (event.key === 'Enter') onStep(event.shiftKey ? -1 : 1)
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  const FoldIcon = folding?.isFolded ? ChevronsUpDown : ChevronsDownUp
  return (
    <div className="text-tools" role="toolbar" aria-label={`Tools: ${label}`}>
      {children}
      <span className="spread" />
      {words !== null && (
        <span className="find">
          <input
            // The person has just opened the field. The ref must keep its identity, or React would call it on every
            // render.
            ref={takeFocus}
            aria-label={`Find in ${label}`}
            value={words}
            spellCheck={false}
            onChange={(event) => onWords(event.target.value)}
            onKeyDown={steer}
          />
          <span className="note" role="status">
            {words === '' || found === null ? '' : countText(found, at)}
          </span>
          <IconButton icon={ArrowUp} title="Previous match" onClick={() => onStep(-1)} />
          <IconButton icon={ArrowDown} title="Next match" onClick={() => onStep(1)} />
          <IconButton icon={X} title="Close find" onClick={() => onWords(null)} />
        </span>
      )}
      <span className="tool-buttons">
        {words === null && (
          <IconButton icon={Search} title="Find (Ctrl F in the text)" onClick={() => onWords('')} label="Find" />
        )}
        <IconButton icon={WrapText} title="Wrap lines" aria-pressed={isWrapped} onClick={onWrap} />
        {folding && (
          <IconButton icon={FoldIcon} title="Fold all" aria-pressed={folding.isFolded} onClick={folding.toggle} />
        )}
        <CopyButton label="Copy all" text={() => text} isIcon />
        <IconButton
          icon={Download}
          title={`Download ${fileName}`}
          onClick={() => saveFile(text, fileName, 'text/plain;charset=utf-8')}
          label="Download"
        />
      </span>
    </div>
  )
}

function countText({ offsets }: Found, at: number): string {
  if (offsets.length === 0) return 'No match'
  const all = offsets.length === MOST_MATCHES ? `${MOST_MATCHES.toLocaleString()}+` : offsets.length.toLocaleString()
  return `${(at + 1).toLocaleString()} of ${all}`
}
