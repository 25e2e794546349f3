// Loads the demo workspace at the first start on an empty default database.
import { open, readFile } from 'node:fs/promises'
import { checkInput } from '../../import-export/checks/validate.ts'
import { loadInput } from '../../import-export/load.ts'
import type { Store } from '../../store/contract.ts'
import { IMPORT_OPTIONS } from '../options/import-options.ts'
import { parseOptions } from '../options/option.ts'

export const DEMO_EMAIL = 'demo@example.com'

const DEMO_FILE = new URL('./demo-workspace.ndjson', import.meta.url)

/** Loads the demo workspace and returns true. Returns false, and does nothing, when the database ever had a user. */
export async function loadDemo(store: Store, clock: () => number): Promise<boolean> {
  // Users who were removed count too: otherwise the demo user would come back with the next start.
  if ((await store.lastIds()).user > 0) return false
  const file = await open(DEMO_FILE)
  try {
    const fields = parseOptions(IMPORT_OPTIONS, {})
    const checked = await checkInput(file, fields, store, () => {})
    const [bad] = checked.bad.first
    if (bad) throw new Error(`demo workspace, line ${bad.line}: ${bad.reason}`)
    await loadInput(file, checked, store, {
      fields,
      clock,
      onProgress: () => {},
      onRejected(line, reason) {
        throw new Error(`demo workspace, line ${line.number}: ${reason}`)
      },
    })
    return true
  } finally {
    await file.close()
  }
}

/** The notice printed once after the demo workspace was loaded: how to open it and how to sign in. */
export function demoNotice(url: string): string {
  return [
    '',
    `A demo workspace was loaded for ${DEMO_EMAIL} (this happens once, on an empty default database).`,
    `  open       ${url}/`,
    `  sign in    curl -X POST ${url}/login -H 'Content-Type: application/json' -d '{"email":"${DEMO_EMAIL}"}'`,
    '',
    '',
  ].join('\n')
}

/** The GraphQL type of each kind of record in the demo workspace. */
const TYPES: Readonly<Record<string, string>> = {
  project: 'Project',
  template: 'Template',
  uiLibrary: 'UiLibrary',
  export: 'ExportElement',
}

/** The first document of each kind by its GraphQL type, as examples for the API reference. */
export async function demoExamples(): Promise<Readonly<Record<string, Readonly<Record<string, unknown>>>>> {
  const lines = (await readFile(DEMO_FILE, 'utf8')).trim().split('\n')
  const records = lines.map((line) => JSON.parse(line)).reverse()
  return Object.fromEntries(records.map(({ kind, data }) => [TYPES[kind], Array.isArray(data) ? data[0] : data]))
}
