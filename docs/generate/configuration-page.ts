// docs/guide/configuration.md: every option of every command, as the command line itself knows them.
import { PassThrough } from 'node:stream'
import type { Command, Option } from 'commander'
import { createProgram } from '../../src/cli/command-line.ts'
import { code, markdownTable } from './markdown-table.ts'

const INTRODUCTION = `# Configuration

\`npx workspace-gateway COMMAND --help\` shows the options of a command, under the same headings as here. Every option is also an environment
variable and a key of a configuration file. A flag overrides the variable, the variable overrides the file, and the file overrides the default. A switch takes no value as a flag. Its
variable and its key take \`true\` or \`1\`, or \`false\`, \`0\` or nothing. A list is separated by commas, and its flag may be repeated. Of any
other flag that is repeated, the last one counts; but an \`--email\` or \`--kind\` with one value is an error then.

If anything is wrong, the command reports all problems at once and does not start: wrong values, and unknown options, variables and keys, each with
the name that you probably meant. Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.

Put secrets into variables or files, because every user of a machine can read the arguments of a process. An option marked
*variable only* is refused as an argument; a file may contain it. Options that a command shares with \`serve\` are described under \`serve\`.

## A configuration file

\`--config\` or \`WORKSPACE_GATEWAY_CONFIG\` names a YAML file, for any command. Keys have the names of the flags. A key at the top level applies to
every command that has the option. A key under the name of a command applies to that command alone and overrides the top level. The section
\`serve\` also applies to \`config check\`, \`doctor\` and \`health\`, which check its settings. Write a list as a YAML list if you like. An option that means
different things in different commands, such as \`to\`, must be under the name of a command.

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

Every value is text, as on the command line, so you need not quote anything that YAML reads as one value. Relative paths start at the
working directory. Make a file that holds a secret readable for the gateway's user alone (\`chmod 600\`).

With \`--workers\`, \`SIGHUP\` reloads the file: the workers are replaced one by one, and no request is refused. \`host\`, \`port\`,
\`workers\`, \`admin-host\` and \`admin-port\` keep their values until the next start. A file with a mistake is reported in the log and
changes nothing. Without workers, changes take effect at the next start.

\`config print\` shows the effective configuration of a command and the source of each value. It also accepts the options of that command.
It hides secrets and the passwords in URLs. Apart from those, its output is a valid configuration file.

\`\`\`sh
npx workspace-gateway config print --config /etc/workspace-gateway.yaml
npx workspace-gateway config print keys rotate
\`\`\`

\`config check\` says whether \`serve\` would accept a configuration, and lists everything that is wrong: the options, their combinations,
the files of secrets and tokens, the URLs of databases, and the variables of traces. It opens no database and no port, and contacts no other server;
\`doctor --look inside\` does that. It exits with 0 or 2.

\`\`\`sh
npx workspace-gateway config check --config /etc/workspace-gateway.yaml
\`\`\`

Variables that Kubernetes sets for services whose names begin with \`workspace-gateway\`, such as \`WORKSPACE_GATEWAY_PORT=tcp://10.0.0.1:4000\`, set no
option.

## Shell completion

The completion covers commands, options, values and files of the command \`workspace-gateway\`, for bash, zsh and fish. The command must be on the \`PATH\`, as after
\`npm install --global\`. In \`~/.zshrc\`, put the line below \`autoload -Uz compinit && compinit\`:

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

/** Options that are those of `serve`, word for word, are only named. The others are under the headings of `--help`. */
function commandSection(command: Command, known: readonly Option[]): string {
  const argumentNames = command.registeredArguments.map((argument) => {
    const name = argument.name() + (argument.variadic ? '…' : '')
    return argument.required ? `<${name}>` : `[${name}]`
  })
  const knownRows = new Set(known.map((option) => String(optionRow(option))))
  const isShared = (option: Option) => knownRows.has(String(optionRow(option)))
  const own = Map.groupBy(
    command.options.filter((option) => !isShared(option)),
    ({ helpGroupHeading = '' }) => helpGroupHeading,
  )
  const shared = command.options
    .filter(isShared)
    .map(optionRow)
    .map(([flags, variable]) => (flags === VARIABLE_ONLY ? variable : flags))
  return [
    `## ${code([...namesOf(command), ...argumentNames].join(' '))}\n`,
    `${command.description()}\n`,
    ...[...own].flatMap(([heading, options]) => [
      ...(heading === '' ? [] : [`### ${heading.replace(/:$/, '')}\n`]),
      `${markdownTable(['option', 'variable', 'default', 'description'], options.map(optionRow))}\n`,
    ]),
    ...(shared.length > 0
      ? [`As for \`serve\`: ${shared.length < known.length ? shared.join(', ') : 'all its options'}.\n`]
      : []),
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
