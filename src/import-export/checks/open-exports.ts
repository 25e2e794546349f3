// Which exports, of those whose elements have lines of their own, a record removes before they are whole.
import type { ExportRecord } from '../format/read-record.ts'
import type { RemovalRecord } from '../format/removal-record.ts'

export interface Endable {
  /** Why no element may follow: a line removes the export, or may do so. */
  endedBy: string | null
}

export interface OpenExports {
  readonly add: (record: ExportRecord, opened: Endable) => void
  /** Ends those that came before and that the record may remove. */
  readonly end: (removal: RemovalRecord, line: number) => void
}

/** Each export is found by all that a removal can name it by, so that a removal looks at no others. */
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
      // Of an export that is not whole no digest is known, and of a stored project no reference.
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
