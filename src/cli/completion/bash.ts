// Generates the completion script of bash, which needs nothing but bash itself.
import { type Completed, type CompletedCommand, valuedOptions } from './completed-command.ts'
import { quoted, quotedCommands } from './quoted.ts'

export function bashCompletion(commands: readonly CompletedCommand[]): string {
  return `# bash completion of workspace-gateway; in ~/.bashrc: source <(workspace-gateway completion bash)
_workspace_gateway() {
  local word=\${COMP_WORDS[COMP_CWORD]} option=\${COMP_WORDS[COMP_CWORD-1]} command='' i
  COMPREPLY=()
  # Of --name=value bash makes three words.
  if [[ $word == = ]]; then
    word=''
  elif [[ $option == = && $COMP_CWORD -gt 1 ]]; then
    option=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command \${COMP_WORDS[i]}" in
      ${quotedCommands(commands)})
        command="\${command:+$command }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$command $option" in
${commands.flatMap(optionCases).join('\n')}
  esac
  case "$command" in
${commands.map(commandCase).join('\n')}
  esac
}
_workspace_gateway_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}
complete -F _workspace_gateway workspace-gateway
`
}

function optionCases(command: CompletedCommand): readonly string[] {
  return valuedOptions(command).map(
    ({ flag, value }) => `    ${quoted(`${command.name} ${flag}`)}) ${offer(value)} return ;;`,
  )
}

function offer(value: Completed): string {
  if (value === 'file') return '_workspace_gateway_files "$word";'
  return typeof value === 'string' ? '' : `${words(value)};`
}

function commandCase({ name, subcommands, options, argument }: CompletedCommand): string {
  const flags = options.map(({ flag }) => flag)
  const choices = typeof argument === 'string' ? subcommands.map(({ word }) => word) : argument
  const files = argument === 'file' ? ` [[ $word == -* ]] || _workspace_gateway_files "$word";` : ''
  return `    ${quoted(name)}) ${words([...choices, ...flags])};${files} ;;`
}

function words(list: readonly string[]): string {
  return `mapfile -t COMPREPLY < <(compgen -W ${quoted(list.join(' '))} -- "$word")`
}
