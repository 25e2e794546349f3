// Notes the result of the first pass for each line, in some ten bytes, so that the second pass need not parse it again.
import { DOCUMENT_KINDS } from '../../store/reads-contract.ts'
import type { DocumentRecord } from './read-record.ts'

const PAGE_BYTES = 65_536
/** The first byte of a note: the index of the document's kind plus one, or this. */
const NOTHING = 0
/** Marks a number that does not fit into one byte: four more bytes follow. */
const LARGE = 255
const MAX_NOTE_BYTES = 1 + 8 * 5

export interface LineNotes {
  /** Called once per line, in order, with its document, or null for a line that must be parsed again. */
  readonly add: (line: string, document: DocumentRecord | null) => void
  /** The reader must be called with the same lines in the same order. It returns the document, or null. */
  readonly createReader: () => (line: string) => DocumentRecord | null
}

/** Notes the positions of the record's parts in the line. A line that writes a part differently is parsed again. */
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
      put(DOCUMENT_KINDS.indexOf(document.kind) + 1)
      for (const place of places) put(place)
    },
    createReader: () => createReader(pages),
  }
}

/** Null when the line does not contain a part literally. */
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

  /** Returns the same string for consecutive lines of one user, so that it is hashed only once. */
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
    const kind = DOCUMENT_KINDS[take() - 1]
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
