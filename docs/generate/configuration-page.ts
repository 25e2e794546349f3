// docs/guide/configuration.md: every option of every command, as the command line itself knows them.
import { PassThrough } from 'node:stream'
import type { Command, Option } from 'commander'
import { createProgram } from '../../src/cli/command-line.ts'
import { code, markdownTable } from './markdown-table.ts'

const INTRODUCTION = `# Configuration

\`npx workspace-gateway COMMAND --help\` shows the options of a command. Every option
is also an environment variable, and a line of a configuration file. A flag stands over the variable, the variable over the file, the file
over the default. A switch takes no value; its variable and its line take \`true\` or \`1\`, or \`false\`, \`0\` or nothing.

What is wrong is named all at once, and nothing starts: wrong values, options, variables and lines that there are not, each with
what was probably meant. Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.

Secrets belong in variables or files: every user of a machine can read the arguments of a process. An option that is marked
*variable only* is refused as an argument; a file may have it. Options that a command shares with \`serve\` are described there.

## A configuration file

\`--config\` or \`WORKSPACE_GATEWAY_CONFIG\` names a YAML file, for any command. Options are named like their flags. What stands at the left is
for every command that has the option; what stands under the name of a command is for it alone, and stands over that. What stands
under \`serve\` is for \`config check\`, \`doctor\` and \`health\` too, which look at what it is given. A list may be written as one. An option that means different things in different commands, such as \`to\`, must stand under the name of a command.

\`\`\`yaml
database: file:/var/lib/workspace/workspace.db
lock-timeout: 10000
serve:
  port: 4000
  cors-origin:
    - https://app.example.com
    - https://*.example.org
keys:
  rotate:
    sign-after: 3600
\`\`\`

Every value is text, as on the command line: nothing need be quoted that YAML reads as one value. Relative paths begin in the
working directory. Give a file that holds a secret to the gateway's user alone (\`chmod 600\`).

With \`--workers\`, \`SIGHUP\` reads the file again: workers are replaced one by one, and nobody is refused. \`host\`, \`port\`,
\`workers\`, \`admin-host\` and \`admin-port\` stay as they are until the next start. A file with a mistake is told in the log and
changes nothing. Without workers, changes come with a restart.

\`config print\` shows what a command would be configured with, and where each value is from. It takes the options of the command
too. Secrets are hidden, and so are the passwords in URLs; otherwise what it prints is a configuration file itself.

\`\`\`sh
npx workspace-gateway config print --config /etc/workspace-gateway.yaml
npx workspace-gateway config print keys rotate
\`\`\`

\`config check\` says whether \`serve\` would take a configuration, with everything that is wrong: the options, what they may not be beside each other,
the files of secrets and tokens, the URLs of databases and the variables of traces. It opens no database and no port, and asks no other server;
\`doctor --look inside\` looks at those. Exit code 0, or 2.

\`\`\`sh
npx workspace-gateway config check --config /etc/workspace-gateway.yaml
\`\`\`

What Kubernetes sets for services whose names begin with \`workspace-gateway\`, such as \`WORKSPACE_GATEWAY_PORT=tcp://10.0.0.1:4000\`, sets no
option.

## Shell completion

Commands, options, values and files, for bash, zsh and fish, of the command \`workspace-gateway\`: it has to be on the \`PATH\`, as after \`npm install --global\`. In \`~/.zshrc\` the line stands below \`autoload -Uz compinit && compinit\`:

\`\`\`sh
source <(workspace-gateway completion bash)
source <(workspace-gateway completion zsh)
workspace-gateway completion fish > ~/.config/fish/completions/workspace-gateway.fish
\`\`\`
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
