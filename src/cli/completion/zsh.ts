// Generates the completion script of zsh, for a folder of `fpath` or to be sourced after compinit.
import { type Completed, type CompletedCommand, valuedOptions } from './completed-command.ts'
import { quoted, quotedCommands } from './quoted.ts'

export function zshCompletion(commands: readonly CompletedCommand[]): string {
  return `#compdef workspace-gateway
# zsh completion of workspace-gateway; in ~/.zshrc after compinit: source <(workspace-gateway completion zsh)
_workspace_gateway() {
  local command='' option=\${words[CURRENT-1]} i
  local -a found
  for ((i = 2; i < CURRENT; i++)); do
    case "$command \${words[i]}" in
      (${quotedCommands(commands)})
        command="\${command:+$command }\${words[i]}" ;;
    esac
  done
  if [[ \${words[CURRENT]} == --*=* ]]; then
    option=\${words[CURRENT]%%=*}
    compset -P '*='
  fi
  case "$command $option" in
${commands.flatMap(optionCases).join('\n')}
  esac
  case "$command" in
${commands.map(commandCase).join('\n')}
  esac
}
# In a folder of fpath, the file itself is the function at the first Tab, and is called _workspace-gateway there.
if [[ \${funcstack[1]} == _workspace[-_]gateway ]]; then
  _workspace_gateway "$@"
else
  compdef _workspace_gateway workspace-gateway
fi
`
}

function optionCases(command: CompletedCommand): readonly string[] {
  return valuedOptions(command).map(
    ({ flag, value }) => `    (${quoted(`${command.name} ${flag}`)}) ${offer(value)}; return ;;`,
  )
}

function offer(value: Completed): string {
  if (value === 'file') return '_files'
  return typeof value === 'string' ? '_message value' : `compadd -- ${value.map(quoted).join(' ')}`
}

function commandCase({ name, subcommands, options, argument }: CompletedCommand): string {
  const flags = options.map(({ flag, description }) => described(flag, description))
  const commands = subcommands.map(({ word, description }) => described(word, description))
  return `    (${quoted(name)})
${commands.length === 0 ? '' : `      found=(${commands.join(' ')}); _describe command found\n`}${argument === 'nothing' || argument === 'text' ? '' : `      [[ \${words[CURRENT]} == -* ]] || ${offer(argument)}\n`}      found=(${flags.join(' ')}); _describe option found ;;`
}

/** An entry of `_describe`. An unescaped colon would end the word. */
function described(word: string, description: string): string {
  return quoted(`${word.replaceAll(':', String.raw`\:`)}:${description}`)
}
