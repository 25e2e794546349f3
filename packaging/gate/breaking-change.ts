// A change that asks something of clients: the change log has to name it.

export interface BreakingChange {
  /** What is named: `Project.name`, `GET /projects`. */
  readonly subject: string
  readonly description: string
}

/** Those that a part of the change log does not name, as code. */
export function unnamedIn(text: string, changes: readonly BreakingChange[]): readonly BreakingChange[] {
  return changes.filter(({ subject }) => !text.includes(`\`${subject}\``))
}

/** The part of one version, from its heading to the next one. */
export function changesOf(version: string, changelog: string): string {
  const [, ...parts] = changelog.split(/^## /m)
  return parts.find((part) => part.startsWith(`${version}\n`) || part.startsWith(`${version} `)) ?? ''
}
