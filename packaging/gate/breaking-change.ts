// Checks that the change log names every breaking change.

export interface BreakingChange {
  /** What the change log has to name, such as `Project.name` or `GET /projects`. */
  readonly subject: string
  readonly description: string
}

/** The changes whose subject does not occur as inline code in this part of the change log. */
export function unnamedIn(text: string, changes: readonly BreakingChange[]): readonly BreakingChange[] {
  return changes.filter(({ subject }) => !text.includes(`\`${subject}\``))
}

/** The part of the change log about one version, from its heading to the next one; '' if there is none. */
export function changesOf(version: string, changelog: string): string {
  const [, ...parts] = changelog.split(/^## /m)
  return parts.find((part) => part.startsWith(`${version}\n`) || part.startsWith(`${version} `)) ?? ''
}
