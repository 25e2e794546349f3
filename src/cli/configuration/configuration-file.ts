// Reads a configuration file: finds the values for one command, and the problems of the whole file.
import cluster from 'node:cluster'
import { statSync } from 'node:fs'
import { unreadable } from '../../errors.ts'
import { longName, type OptionRow } from '../options/option.ts'
import { didYouMean } from './closest-name.ts'
import { configOption } from './config-option.ts'
import type { DescribedCommand } from './described-commands.ts'
import { readTextFile } from './text-file.ts'
import { type FileEntry, type FileProblem, parseYamlEntries } from './yaml-entries.ts'

export interface FileValue {
  readonly text: string
  /** `PATH:LINE`. */
  readonly place: string
}

export interface ConfigurationFile {
  /** Values by the long name of the option. A value under the name of the command overrides one for every command. */
  readonly valuesFor: (command: DescribedCommand) => ReadonlyMap<string, FileValue>
  /** Unknown names and misplaced values in the whole file, in order of line. */
  readonly problems: readonly string[]
  /** False when the file could not be read completely: it may set more than `valuesFor` returns. */
  readonly isWhole: boolean
}

/** Entries by the name of their command. Entries under '' are for every command that has the option. */
type Tables = ReadonlyMap<string, readonly FileEntry[]>

const EVERY_COMMAND = ''

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
      return {
        problem: `--${longName(configOption)}: ${path} is not a file, but with --workers every worker must read it`,
      }
    }
    return { text: readTextFile(path) }
  } catch (error) {
    return { problem: `--${longName(configOption)}: ${unreadable(path, error)}` }
  }
}

/**
 * True for a pipe or a socket. It is empty after the supervisor has read it, so a worker would read an empty file and
 * miss every setting.
 */
function isReadOnce(path: string): boolean {
  const found = statSync(path)
  return found.isFIFO() || found.isSocket()
}

/** Entries by the full name of their command, at every depth of the file. */
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
  // The subcommands that this table may contain.
  const below = commands.flatMap(({ name }) => (name.startsWith(prefix) ? name.slice(prefix.length).split(' ', 1) : []))
  // An unknown command is reported once, for the table itself, and not again for its entries.
  if (table !== EVERY_COMMAND && below.length === 0 && !commands.some(({ name }) => name === table)) return []
  return entries.flatMap(({ key, line, value }) => {
    const message =
      typeof value !== 'string'
        ? tableProblem(key, below, commands)
        : below.includes(key)
          ? noTableProblem(value)
          : valueProblem(key, table, commands, value === '' ? below : [])
    return message === null ? [] : [{ line, message: `${key}: ${message}` }]
  })
}

function tableProblem(key: string, known: readonly string[], commands: readonly DescribedCommand[]): string | null {
  if (known.includes(key)) return null
  const isOption = commands.some(({ options }) => rowsOf(options).some((row) => longName(row) === key))
  return isOption ? 'must be a value, or a list of values' : `there is no such command${didYouMean(key, known)}`
}

/** A command without options is fine: they may all be comments. */
function noTableProblem(value: string): string | null {
  return value === '' ? null : 'is a command: put its options below it, one per line, as NAME: VALUE'
}

/** `alsoMeant` are further names that a misspelt key may stand for: one without a value may be the section of a command. */
function valueProblem(
  key: string,
  table: string,
  commands: readonly DescribedCommand[],
  alsoMeant: readonly string[],
): string | null {
  const inTable = table === EVERY_COMMAND ? commands : commands.filter(({ name }) => name === table)
  const rows = inTable.flatMap(({ name, options }) => rowsOf(options).map((row) => ({ name, row })))
  const found = rows.filter(({ row }) => longName(row) === key)
  if (found.length === 0) {
    const whose = table === EVERY_COMMAND ? 'no command has' : `${table} does not have`
    const known = [...rows.map(({ row }) => longName(row)), ...alsoMeant]
    return `${whose} this option${didYouMean(key, known)}`
  }
  if (!isOwn(key, inTable)) return null
  return `has a different meaning for each of ${found.map(({ name }) => name).join(', ')}: put it under the name of one of them`
}

/** Whether commands give this option different meanings. Then a file may set it only under the name of one command. */
export function isOwn(key: string, commands: readonly DescribedCommand[]): boolean {
  const rows = commands.flatMap(({ options }) => rowsOf(options).filter((row) => longName(row) === key))
  return new Set(rows.map((row) => `${row.flags} ${row.description}`)).size > 1
}

/** The options that a file may contain: all but --config, because a file cannot name another file. */
function rowsOf(options: DescribedCommand['options']): readonly OptionRow[] {
  return Object.values(options).filter((row) => row !== configOption)
}
