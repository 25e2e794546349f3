// docs/guide/configuration.md: every option of every command, as the command line itself knows them.
import { PassThrough } from 'node:stream'
import type { Command, Option } from 'commander'
import { createProgram } from '../../src/cli/command-line.ts'
import { code, markdownTable } from './markdown-table.ts'

const INTRODUCTION = `# Configuration

\`npx workspace-gateway COMMAND --help\` shows the options of a command; in a clone, \`node src/main.ts COMMAND\` runs it. Every option
is also an environment variable. A flag stands over the variable, the variable over the default. A wrong value is named, with its
flag and its variable, and nothing starts. A switch takes no value; its variable takes \`true\` or \`false\`.

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.

Secrets belong in variables or files: every user of a machine can read the arguments of a process. An option that is marked
*variable only* is refused as an argument. Options that a command shares with \`serve\` are described there.
`

const VARIABLE_ONLY = '*variable only*'

export function configurationPage(): string {
  const io = {
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    isTerminal: false,
    clock: Date.now,
  }
  const [serve, ...others] = leavesOf(createProgram(io, process, () => {}))
  if (!serve) throw new Error('the program has no command')
  const sections = [commandSection(serve, []), ...others.map((command) => commandSection(command, serve.options))]
  return [INTRODUCTION, ...sections].join('\n')
}

function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf)
}

/** Options that are those of `serve`, word for word, are only named. */
function commandSection(command: Command, known: readonly Option[]): string {
  const argumentNames = command.registeredArguments.map((argument) => {
    const name = argument.name() + (argument.variadic ? '…' : '')
    return argument.required ? `<${name}>` : `[${name}]`
  })
  const rows = command.options.map(optionRow)
  const knownRows = new Set(known.map((option) => String(optionRow(option))))
  const own = rows.filter((row) => !knownRows.has(String(row)))
  const shared = rows
    .filter((row) => knownRows.has(String(row)))
    .map(([flags, variable]) => (flags === VARIABLE_ONLY ? variable : flags))
  return [
    `## ${code([...namesOf(command), ...argumentNames].join(' '))}\n`,
    `${command.description()}\n`,
    ...(own.length > 0 ? [`${markdownTable(['option', 'variable', 'default', 'description'], own)}\n`] : []),
    ...(shared.length > 0 ? [`As for \`serve\`: ${shared.join(', ')}.\n`] : []),
  ].join('\n')
}

/** From the outside in, without the program's own. */
function namesOf(command: Command): readonly string[] {
  return command.parent ? [...namesOf(command.parent), command.name()] : []
}

function optionRow({ flags, envVar = '', defaultValue, description, hidden }: Option): readonly string[] {
  return [
    hidden ? VARIABLE_ONLY : code(flags),
    code(envVar),
    typeof defaultValue === 'string' ? code(defaultValue) : '',
    // What looks like a tag would not be shown.
    description.replaceAll('<', '&lt;'),
  ]
}
