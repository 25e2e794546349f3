// Derives from an import file what a gateway must serve, without any code of the gateway.
import { readFileSync } from 'node:fs'

export interface ExpectedExport {
  readonly r: string
  readonly createdAt: string
  /** The array as it stands in the file. */
  readonly data: string
}

export interface ExpectedUser {
  readonly project: string[]
  readonly template: string[]
  readonly uiLibrary: string[]
  readonly exports: ExpectedExport[]
}

/** Expects one compact record per line, with `data` as its last member, which is what `dump` writes. */
export function readImportFile(path: string): Map<string, ExpectedUser> {
  const users = new Map<string, ExpectedUser>()
  for (const line of readFileSync(path, 'utf8').split('\n').filter(Boolean)) {
    const { kind, email, r, createdAt } = JSON.parse(line)
    const marker = '"data":'
    const data = line.slice(line.indexOf(marker) + marker.length, -1)
    const user = users.get(email) ?? { project: [], template: [], uiLibrary: [], exports: [] }
    users.set(email, user)
    if (kind === 'export') user.exports.push({ r, createdAt, data })
    else user[kind as 'project' | 'template' | 'uiLibrary'].push(data)
  }
  return users
}

export function newestExports({ exports }: ExpectedUser): Map<string, ExpectedExport> {
  const newest = new Map<string, ExpectedExport>()
  for (const one of exports) {
    const before = newest.get(one.r)
    if (!before || Date.parse(one.createdAt) >= Date.parse(before.createdAt)) newest.set(one.r, one)
  }
  return newest
}
