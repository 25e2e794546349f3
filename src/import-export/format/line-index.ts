// What the first pass of an import found out about each line, in some ten bytes, so that the second need not parse it again.
import type { DocumentKind } from '../../store/contract.ts'
import type { DocumentRecord } from './read-record.ts'

const PAGE_BYTES = 65_536
/** A note begins with the kind of the document, as an index into this plus one. */
const KINDS: readonly DocumentKind[] = ['project', 'template', 'uiLibrary']
const NOTHING = 0
/** Numbers from here on take four bytes more, behind a byte of this value. */
const LARGE = 255
const MAX_NOTE_BYTES = 1 + 8 * 5

export interface LineNotes {
  /** Once for each line, in order: its document, or null for a line that has to be read again. */
  readonly add: (line: string, document: DocumentRecord | null) => void
  /** To be called with each line that was noted, in the same order: its document, or null. */
  readonly createReader: () => (line: string) => DocumentRecord | null
}

/** Notes where in the line the parts of the record stand; a part that is written otherwise is left to be read again. */
export function createLineNotes(): LineNotes {
  const pages: Uint8Array[] = []
  let page = new Uint8Array(0)
  let at = 0

  function put(number: number): void {
    if (number < LARGE) {
      page[at++] = number
      return
    }
    page[at++] = LARGE
    for (let shift = 0; shift < 32; shift += 8) page[at++] = number >>> shift
  }

  return {
    add(line, document) {
      if (at + MAX_NOTE_BYTES > page.byteLength) {
        page = new Uint8Array(PAGE_BYTES)
        pages.push(page)
        at = 0
      }
      const places = document && placesOf(line, document)
      if (!document || !places) {
        put(NOTHING)
        return
      }
      put(KINDS.indexOf(document.kind) + 1)
      for (const place of places) put(place)
    },
    createReader: () => createReader(pages),
  }
}

/** Null when a part is not in the line the way it is in the record. */
function placesOf(line: string, { email, id, ref, start, text }: DocumentRecord): readonly number[] | null {
  const emailAt = line.indexOf(email)
  const idAt = line.indexOf(id, start)
  const refAt = ref === null ? start : line.indexOf(ref, start)
  if (emailAt === -1 || idAt === -1 || refAt === -1) return null
  const rest = line.length - start - text.length
  const places = [emailAt, email.length, start, rest, idAt - start, id.length]
  return ref === null ? places : [...places, refAt - start, ref.length]
}

function createReader(pages: readonly Uint8Array[]): (line: string) => DocumentRecord | null {
  let pageIndex = 0
  let page = pages[pageIndex] ?? new Uint8Array(0)
  let at = 0
  let lastEmail = ''

  function take(): number {
    const first = page[at++] ?? NOTHING
    if (first < LARGE) return first
    let number = 0
    for (let shift = 0; shift < 32; shift += 8) number |= (page[at++] ?? 0) << shift
    return number
  }

  /** The same string for the lines of one user that follow each other: it is hashed once. */
  function emailOf(line: string): string {
    const start = take()
    const length = take()
    if (length !== lastEmail.length || !line.startsWith(lastEmail, start)) lastEmail = line.slice(start, start + length)
    return lastEmail
  }

  return (line) => {
    if (at + MAX_NOTE_BYTES > page.byteLength) {
      pageIndex += 1
      page = pages[pageIndex] ?? new Uint8Array(0)
      at = 0
    }
    const kind = KINDS[take() - 1]
    if (kind === undefined) return null
    const email = emailOf(line)
    const start = take()
    const text = line.slice(start, line.length - take())
    const nameHere = (): string => {
      const nameAt = start + take()
      return line.slice(nameAt, nameAt + take())
    }
    const id = nameHere()
    return { kind, email, id, ref: kind === 'project' ? nameHere() : null, text, start }
  }
}
