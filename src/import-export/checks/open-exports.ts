// Tracks exports whose elements have lines of their own and that a later line may remove before they are complete.
import type { ExportRecord } from '../format/read-record.ts'
import type { RemovalRecord } from '../format/removal-record.ts'

export interface Endable {
  /** Why no further element may follow: a line removes the export, or may remove it. */
  endedBy: string | null
}

export interface OpenExports {
  readonly add: (record: ExportRecord, opened: Endable) => void
  /** Ends the exports before this line that the record may remove. */
  readonly end: (removal: RemovalRecord, line: number) => void
}

/** Indexes each export by every name that a removal can use, so that a removal looks at no other exports. */
export function createOpenExports(): OpenExports {
  const byName = new Map<string, Endable[]>()

  return {
    add(record, opened) {
      for (const name of [record.email, nameOfExport(record)]) {
        const known = byName.get(name)
        if (known) known.push(opened)
        else byName.set(name, [opened])
      }
    },
    end({ email, change }, line) {
      if (change.type === 'removeDocument' && change.kind !== 'project') return
      // The digest of an incomplete export and the reference of a stored project are unknown. So a removal by either of
      // them ends all open exports of the user.
      const isNamed =
        change.type === 'removeExports' && change.ref !== null && change.instant !== null && change.digest === null
      const name = isNamed ? nameOfExport({ email, ref: change.ref ?? '', instant: change.instant ?? '' }) : email
      const what = isNamed ? 'its export' : UNNAMED[change.type]
      for (const opened of byName.get(name) ?? []) opened.endedBy ??= `${what} is removed by line ${line}`
      byName.delete(name)
    },
  }
}

const UNNAMED: Readonly<Record<RemovalRecord['change']['type'], string>> = {
  removeUser: 'the user of its export',
  removeDocument: 'a project of the user of its export',
  removeExports: 'its export, or another one of the user,',
}

function nameOfExport({ email, ref, instant }: Pick<ExportRecord, 'email' | 'ref' | 'instant'>): string {
  return JSON.stringify([email, ref, instant])
}
