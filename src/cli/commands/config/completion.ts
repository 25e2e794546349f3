// completion: writes the script with which a shell completes commands, options and their values.
import { bashCompletion } from '../../completion/bash.ts'
import type { CompletedCommand } from '../../completion/completed-command.ts'
import { fishCompletion } from '../../completion/fish.ts'
import { zshCompletion } from '../../completion/zsh.ts'
import type { CommandIo, ExitCode } from '../../io.ts'

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }

export type Shell = keyof typeof SCRIPTS

export function runCompletion(shell: Shell, commands: readonly CompletedCommand[], { stdout }: CommandIo): ExitCode {
  stdout.write(SCRIPTS[shell](commands))
  return 0
}
