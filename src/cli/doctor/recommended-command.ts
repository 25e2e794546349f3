// Formats the commands that the doctor recommends: they are about the same database, with the same options, as the
// doctor itself was asked about, so that they can be pasted into a shell as they are.
import type { Command } from 'commander'
import type { DescribedCommand } from '../configuration/described-commands.ts'
import { shownValue } from '../configuration/shown-value.ts'
import { longName, type OptionRow, optionName } from '../options/option.ts'
import { DOCTOR_OPTIONS } from './doctor-options.ts'
import { shellWords } from './shell-words.ts'

/** Returns the command called `name`, with `args` written as for a shell. */
export type RecommendCommand = (name: string, ...args: readonly string[]) => string

/**
 * A recommended command has every flag that `doctor` was given and that it knows too. What the environment or a
 * configuration file says, it finds there itself. Secrets are hidden.
 */
export function createRecommendCommand(doctor: Command, commands: readonly DescribedCommand[]): RecommendCommand {
  const given = Object.values(DOCTOR_OPTIONS).filter((row) => doctor.getOptionValueSource(optionName(row)) === 'flag')
  return (name, ...args) => {
    const known = Object.values(commands.find((described) => described.name === name)?.options ?? {}).map(longName)
    const flags = given.filter((row) => known.includes(longName(row))).flatMap(wordsOf)
    return ['workspace-gateway', name, ...flags, ...args].join(' ')
  }

  function wordsOf(row: OptionRow): readonly string[] {
    const value: unknown = doctor.getOptionValue(optionName(row))
    const flag = `--${longName(row)}`
    return value === true ? [flag] : [flag, shellWords(shownValue(row, String(value)))]
  }
}
