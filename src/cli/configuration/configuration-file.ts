// What a configuration file says to one command, and what is wrong with the file for whatever command.
import cluster from 'node:cluster'
import { readFileSync, statSync } from 'node:fs'
import { reasonOf } from '../../errors.ts'
import { longName, type OptionRow } from '../options/option.ts'
import { didYouMean } from './closest-name.ts'
import { configOption } from './config-option.ts'
import type { DescribedCommand } from './described-commands.ts'
import { type FileEntry, type FileProblem, parseYamlEntries } from './yaml-entries.ts'

export interface FileValue {
  readonly text: string
  /** `PATH:LINE`. */
  readonly place: string
}

export interface ConfigurationFile {
  /** By the name of the option. What stands under the name of the command stands over what is for every command. */
  readonly valuesFor: (command: DescribedCommand) => ReadonlyMap<string, FileValue>
  /** Names that there are not, and values where none can stand; of the whole file, in order. */
  readonly problems: readonly string[]
  /** False where it could not be read, or not all of it: it may say more than `valuesFor` knows. */
  readonly isWhole: boolean
}

/** The options of one command, or, under '', of every command that has them. */
type Tables = ReadonlyMap<string, readonly FileEntry[]>

const EVERY_COMMAND = ''
const UTF8 = new TextDecoder('utf-8', { fatal: true })

export function readConfigurationFile(path: string, commands: readonly DescribedCommand[]): ConfigurationFile {
  const read = readText(path)
  if ('problem' in read) return { problems: [read.problem], isWhole: false, valuesFor: () => new Map() }
  const parsed = parseYamlEntries(read.text)
  const tables = tablesOf(parsed.entries, EVERY_COMMAND)
  const wrong = [...parsed.problems, ...[...tables].flatMap(([table, entries]) => problemsOf(table, entries, commands))]
  return {
    problems: wrong.toSorted((a, b) => a.line - b.line).map(({ line, message }) => `${path}:${line}: ${message}`),
    isWhole: parsed.problems.length === 0,
    valuesFor: (command) =>
      new Map(
        entriesFor(command, tables).map(({ key, line, value }) => [
          key,
          { text: String(value), place: `${path}:${line}` },
        ]),
      ),
  }
}

function readText(path: string): { readonly text: string } | { readonly problem: string } {
  try {
    if (cluster.isWorker && isReadOnce(path)) {
      return { problem: `--${longName(configOption)}: ${path} is no file, and with workers each of them reads it` }
    }
    return { text: UTF8.decode(readFileSync(path)) }
  } catch (error) {
    const reason = error instanceof TypeError ? 'it is not UTF-8' : reasonOf(error)
    return { problem: `--${longName(configOption)}: cannot read ${path}: ${reason}` }
  }
}

/** A pipe is empty once the supervisor has read it, and an empty file sets nothing. */
function isReadOnce(path: string): boolean {
  const found = statSync(path)
  return found.isFIFO() || found.isSocket()
}

/** By the name of their command, as deep as the file goes. */
function tablesOf(entries: readonly FileEntry[], name: string): Tables {
  return new Map([
    [name, entries],
    ...entries.flatMap(({ key, value }) =>
      typeof value === 'string' ? [] : [...tablesOf(value, name === EVERY_COMMAND ? key : `${name} ${key}`)],
    ),
  ])
}

function entriesFor({ name, options, looksAt }: DescribedCommand, tables: Tables): readonly FileEntry[] {
  const known = new Set(Object.values(options).map(longName))
  const isValue = ({ key, value }: FileEntry) => typeof value === 'string' && known.has(key)
  const heard = [EVERY_COMMAND, ...(looksAt === null ? [] : [looksAt]), name]
  return heard.flatMap((table) => tables.get(table) ?? []).filter(isValue)
}

function problemsOf(
  table: string,
  entries: readonly FileEntry[],
  commands: readonly DescribedCommand[],
): readonly FileProblem[] {
  const prefix = table === EVERY_COMMAND ? '' : `${table} `
  // The names that the table of a command may hold: of what is below it.
  const below = commands.flatMap(({ name }) => (name.startsWith(prefix) ? name.slice(prefix.length).split(' ', 1) : []))
  // Said once, of the table itself.
  if (table !== EVERY_COMMAND && below.length === 0 && !commands.some(({ name }) => name === table)) return []
  return entries.flatMap(({ key, line, value }) => {
    const message = typeof value === 'string' ? valueProblem(key, table, commands) : tableProblem(key, below, commands)
    return message === null ? [] : [{ line, message: `${key}: ${message}` }]
  })
}

function tableProblem(key: string, known: readonly string[], commands: readonly DescribedCommand[]): string | null {
  if (known.includes(key)) return null
  const isOption = commands.some(({ options }) => rowsOf(options).some((row) => longName(row) === key))
  return isOption ? 'must be a value, or a list of values' : `there is no such command${didYouMean(key, known)}`
}

function valueProblem(key: string, table: string, commands: readonly DescribedCommand[]): string | null {
  const inTable = table === EVERY_COMMAND ? commands : commands.filter(({ name }) => name === table)
  const rows = inTable.flatMap(({ name, options }) => rowsOf(options).map((row) => ({ name, row })))
  const found = rows.filter(({ row }) => longName(row) === key)
  if (found.length === 0) {
    const whose = table === EVERY_COMMAND ? 'no command has' : `${table} does not have`
    const known = rows.map(({ row }) => longName(row))
    return `${whose} this option${didYouMean(key, known)}`
  }
  if (!isOwn(key, inTable)) return null
  return `means something else to each of ${found.map(({ name }) => name).join(', ')}: put it under the name of one`
}

/** Whether an option means something else to each command that has it, so that it stands under the name of one only. */
export function isOwn(key: string, commands: readonly DescribedCommand[]): boolean {
  const rows = commands.flatMap(({ options }) => rowsOf(options).filter((row) => longName(row) === key))
  return new Set(rows.map((row) => `${row.flags} ${row.description}`)).size > 1
}

/** Those that may stand in a file: a file names no other. */
function rowsOf(options: DescribedCommand['options']): readonly OptionRow[] {
  return Object.values(options).filter((row) => row !== configOption)
}
