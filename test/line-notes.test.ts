// The notes of the first pass of an import, which save the second pass from parsing each line again.
import { expect, test } from 'vitest'
import { isDocument } from '../src/import-export/checks/validate.ts'
import { createLineNotes } from '../src/import-export/format/line-index.ts'
import { createRecordReader, type DocumentRecord } from '../src/import-export/format/read-record.ts'
import { documentLine } from './support/workspaces.ts'

const readRecord = createRecordReader({ idFields: ['id', 'name'], refFields: ['ref', 'id'] })

function readDocument(line: string): DocumentRecord {
  const record = readRecord(line)
  if (!isDocument(record)) throw new Error('not a document')
  return record
}

const LONG = 'x'.repeat(70_000)
const NOTED: readonly string[] = [
  documentLine('project', 'ana@example.com', '{"id":"p","ref":"r"}'),
  documentLine('project', 'ana@example.com', `{"text":"${LONG}","ref":"r","id":-12345678901234567890}`),
  documentLine('project', 'ben@example.com', `{"id":"p","id":"the last counts","ref":"${'r'.repeat(1_024)}"}`),
  documentLine('template', 'ben@example.com', '{"name":"\u{1f600} n","id":{}}'),
  documentLine('template', 'cat@example.com', '{"id":"id"}'),
  documentLine('uiLibrary', 'cat@example.com', '{"id":"cat@example.com"}'),
  ` { "data" : {"id":1, "ref":"${LONG.slice(0, 255)}"} , "kind":"project", "more":"${LONG}","email" : "ana@example.com" } `,
].map((line) => line.trimEnd())

const READ_AGAIN: readonly string[] = [
  documentLine('template', 'ANA@example.com', '{"id":"a"}'),
  documentLine('template', 'ana@example.com', '{"id":"\\u0061\\n"}'),
  documentLine('project', 'ana@example.com', '{"id":"a","ref":"\\"a\\""}'),
]

test('the notes return, for every line, the record that was read from it, or null, across many pages of notes', () => {
  const lines = Array.from({ length: 3_000 }, (_, index) => [
    NOTED[index % NOTED.length] ?? '',
    ...(index % 3 === 0 ? [READ_AGAIN[index % READ_AGAIN.length] ?? ''] : []),
  ]).flat()
  const notes = createLineNotes()
  for (const [index, line] of lines.entries()) {
    notes.add(line, index % 5 === 0 ? null : readDocument(line))
  }
  const read = notes.createReader()
  for (const [index, line] of lines.entries()) {
    const isNoted = index % 5 > 0 && NOTED.includes(line)
    expect(read(line)).toEqual(isNoted ? readDocument(line) : null)
  }
})

test('the notes return the longest record, whatever number of lines is before it', () => {
  const line = NOTED.at(-1) ?? ''
  const record = readDocument(line)
  // The last lines of a page of notes.
  for (let before = 65_470; before <= 65_540; before += 1) {
    const notes = createLineNotes()
    for (let index = 0; index < before; index += 1) notes.add('', null)
    notes.add(line, record)
    const read = notes.createReader()
    for (let index = 0; index < before; index += 1) read('')
    expect(read(line)).toEqual(record)
  }
})
