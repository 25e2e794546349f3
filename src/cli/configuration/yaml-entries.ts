// Parses a YAML configuration file into entries with line numbers. Every value is the text that a flag would have.
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseAllDocuments,
  type YAMLError,
  type YAMLMap,
} from 'yaml'
import { memberOf } from '../../member-of.ts'

export interface FileEntry {
  readonly key: string
  readonly line: number
  /** The items of a list are joined with commas, as in a flag. A nested list of entries is the table of a command. */
  readonly value: string | readonly FileEntry[]
}

export interface FileProblem {
  readonly line: number
  readonly message: string
}

export interface ParsedFile {
  readonly entries: readonly FileEntry[]
  readonly problems: readonly FileProblem[]
}

const NO_VALUE = 'must be a value, or a list of values'
const NO_DASHES =
  'a list holds values: put the options of a command below it without dashes, one per line, as NAME: VALUE'

/** Messages never repeat a value of the file: it may be a secret. */
export function parseYamlEntries(text: string): ParsedFile {
  const lines = new LineCounter()
  // With `failsafe` every scalar stays a string, so the schema of the option checks exactly what was written.
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, schema: 'failsafe' })
  const [document, second] = 'empty' in documents ? [] : documents
  if (!document) return { entries: [], problems: [] }
  const problems: FileProblem[] = [...document.errors, ...document.warnings].map((error) => toProblem(error, lines))
  if (second)
    problems.push({ line: lines.linePos(second.range[0]).line, message: 'a file must hold only one YAML document' })
  return { entries: problems.length > 0 ? [] : entriesOf(document, lines, problems), problems }
}

function toProblem({ code, pos }: YAMLError, lines: LineCounter): FileProblem {
  const { line, col } = lines.linePos(pos[0])
  return { line, message: `column ${col} is not YAML: ${code.toLowerCase().replaceAll('_', ' ')}` }
}

function entriesOf({ contents }: Document, lines: LineCounter, problems: FileProblem[]): readonly FileEntry[] {
  if (isMap(contents)) return contents.items.flatMap((pair) => entryOf(pair, lines, problems) ?? [])
  if (contents === null || (isScalar(contents) && contents.value === '')) return []
  problems.push({ line: 1, message: 'a file must hold options, one per line, as NAME: VALUE' })
  return []
}

function entryOf(pair: Pair, lines: LineCounter, problems: FileProblem[]): FileEntry | null {
  const line = lineOf(pair.key, lines)
  if (!isScalar(pair.key) || typeof pair.key.value !== 'string') {
    problems.push({ line, message: 'the name of an option must be a word' })
    return null
  }
  const key = pair.key.value
  if (isMap(pair.value)) return { key, line, value: nested(pair.value, lines, problems) }
  const value = textOf(pair.value)
  if (value === null) problems.push({ line, message: `${key}: ${holdsEntries(pair.value) ? NO_DASHES : NO_VALUE}` })
  return value === null ? null : { key, line, value }
}

function nested(map: YAMLMap, lines: LineCounter, problems: FileProblem[]): readonly FileEntry[] {
  return map.items.flatMap((pair) => entryOf(pair, lines, problems) ?? [])
}

/** Null when the node is neither a value nor a list of values. */
function textOf(node: unknown): string | null {
  if (node === null) return ''
  if (isScalar(node)) return typeof node.value === 'string' ? node.value : ''
  if (!isSeq(node)) return null
  const items = node.items.map((item) => (isScalar(item) ? textOf(item) : null))
  return items.every((item) => item !== null) ? items.join(',') : null
}

/** Whether a node is a list of `NAME: VALUE`, as dashes before the options of a command make it. */
function holdsEntries(node: unknown): boolean {
  return isSeq(node) && node.items.some((item) => isMap(item))
}

function lineOf(node: unknown, lines: LineCounter): number {
  const range: unknown = memberOf(node, 'range')
  return Array.isArray(range) ? lines.linePos(Number(range[0])).line : 1
}
