// What is generated of the papers: whole pages, and parts of pages between two comments.
import { readFileSync } from 'node:fs'
import { collections } from './collections.ts'
import { configurationPage } from './configuration-page.ts'
import { errorsPage } from './errors-page.ts'
import { fileMap } from './file-map.ts'
import { routeFailureTable, routeTable } from './route-table.ts'

const ROOT = new URL('../../', import.meta.url)

export interface Paper {
  readonly url: URL
  /** From the root of the repository. */
  readonly path: string
  readonly text: string
}

/** As they should be, made from the code as it is. Throws when a page lacks the comments of a part. */
export function papers(): readonly Paper[] {
  return [
    paper('docs/api/errors.md', errorsPage()),
    paper('docs/architecture/files.md', fileMap()),
    paper('docs/guide/configuration.md', configurationPage()),
    withParts('docs/api/rest.md', { routes: routeTable(), failures: routeFailureTable() }),
    withParts('README.md', { routes: routeTable() }),
    ...Object.entries(collections()).map(([path, text]) => paper(`docs/api/collections/${path}`, text)),
  ]
}

function paper(path: string, text: string): Paper {
  return { url: new URL(path, ROOT), path, text }
}

function withParts(path: string, parts: Readonly<Record<string, string>>): Paper {
  let text = readFileSync(new URL(path, ROOT), 'utf8')
  for (const [name, part] of Object.entries(parts)) {
    const [start, end] = [`<!-- generated: ${name} -->\n`, `\n<!-- end: ${name} -->`]
    const from = text.indexOf(start)
    const to = text.indexOf(end, from)
    if (from === -1 || to === -1) throw new Error(`${path} lacks the comments around "${name}"`)
    text = text.slice(0, from + start.length) + part + text.slice(to)
  }
  return paper(path, text)
}
