// Prints a whole text, although the window renders only some rows of it; past a limit it says how much is left out.
import type { ReactNode } from 'react'
import { usePrinting } from '../design/use-printing.ts'

/** Some hundred pages. */
const MOST_LINES = 10_000
const MOST_CHARACTERS = 1_000_000

interface PrintedTextProps {
  /** The text as displayed. */
  readonly text: string
  readonly label: string
}

export function PrintedText({ text, label }: PrintedTextProps): ReactNode {
  if (!usePrinting()) return null
  const end = endOfPrinted(text)
  return (
    <div className="printed">
      <p className="printed-label">{label}</p>
      <pre>{text.slice(0, end)}</pre>
      {end < text.length && (
        <p>
          <strong>
            Cut here: {end.toLocaleString()} of {text.length.toLocaleString()} characters are printed. Download the text
            to have all of it.
          </strong>
        </p>
      )}
    </div>
  )
}

function endOfPrinted(text: string): number {
  const most = Math.min(text.length, MOST_CHARACTERS)
  let [at, lines] = [0, 0]
  while (lines < MOST_LINES) {
    const next = text.indexOf('\n', at)
    if (next === -1 || next >= most) return most
    at = next + 1
    lines += 1
  }
  return at
}
