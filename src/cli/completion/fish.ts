// Generates the completion script of fish.
import type { CompletedCommand } from './completed-command.ts'

export function fishCompletion(commands: readonly CompletedCommand[]): string {
  const names = commands.flatMap(({ name }) => (name === '' ? [] : quoted(name)))
  return `# fish completion of workspace-gateway; workspace-gateway completion fish > ~/.config/fish/completions/workspace-gateway.fish
function __workspace_gateway_command
    set -l command ''
    for word in (commandline -opc)[2..-1]
        switch (string trim -- "$command $word")
            case ${names.join(' ')}
                set command (string trim -- "$command $word")
        end
    end
    echo $command
end
${commands.flatMap(linesOf).join('\n')}
`
}

function linesOf({ name, subcommands, options, argument }: CompletedCommand): readonly string[] {
  const at = `complete -c workspace-gateway -n ${quoted(`test (__workspace_gateway_command) = ${quoted(name)}`)}`
  const words = typeof argument === 'string' ? [] : [`${at} -f -a ${quoted(argument.join(' '))}`]
  return [
    ...(argument === 'file' ? [] : [`${at} -f`]),
    ...words,
    ...subcommands.map(({ word, description }) => `${at} -a ${quoted(word)} -d ${quoted(description)}`),
    ...options.map(({ flag, description, value }) => {
      const values =
        value === 'file'
          ? ' -r -F'
          : value === 'text'
            ? ' -x'
            : value === 'nothing'
              ? ''
              : ` -x -a ${quoted(value.join(' '))}`
      return `${at} -l ${flag.slice('--'.length)}${values} -d ${quoted(description)}`
    }),
  ]
}

/** In fish's single quotes, a backslash and a single quote are escaped. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
