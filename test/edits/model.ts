// A simple model in memory of what a database must hold after any sequence of imports, replacements, removals and
// renames.
import { documentLine, exportLine } from '../support/workspaces.ts'

export type Kind = 'project' | 'template' | 'uiLibrary'

/** A line of an import file. */
export type Line =
  | { readonly type: 'user'; readonly email: string }
  | { readonly type: 'removeUser'; readonly email: string }
  | {
      readonly type: 'document'
      readonly email: string
      readonly kind: Kind
      readonly id: string
      readonly ref: string
      readonly n: number
    }
  | { readonly type: 'removeDocument'; readonly email: string; readonly kind: Kind; readonly id: string }
  | { readonly type: 'export'; readonly email: string; readonly ref: string; readonly day: number }
  | { readonly type: 'removeExport'; readonly email: string; readonly ref: string; readonly day: number }

type Document = Extract<Line, { type: 'document' }>

interface Export {
  readonly ref: string
  readonly day: number
  /** The reference under which it was imported: its elements are derived from that and from the day. */
  readonly firstRef: string
}

interface User {
  readonly documents: Map<string, Document>
  /** In the order of the import. */
  readonly exports: Map<string, Export>
}

export type World = Map<string, User>

const atDay = (day: number) => `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`
const nameOf = ({ kind, id }: { kind: Kind; id: string }) => `${kind} ${id}`

export function toText(line: Line): string {
  const { email } = line
  switch (line.type) {
    case 'user':
      return `{"kind":"user","email":"${email}"}\n`
    case 'removeUser':
      return `{"kind":"user","email":"${email}","removed":true}\n`
    case 'document':
      return documentLine(line.kind, email, textOf(line))
    case 'removeDocument':
      return `{"kind":"${line.kind}","email":"${email}","id":"${line.id}","removed":true}\n`
    case 'export':
      return exportLine(email, { r: line.ref, createdAt: atDay(line.day), elements: elementsOf(line.ref, line.day) })
    case 'removeExport':
      return `{"kind":"export","email":"${email}","r":"${line.ref}","createdAt":"${atDay(line.day)}","removed":true}\n`
  }
}

function textOf({ id, kind, ref, n }: Document): string {
  return JSON.stringify({ id, ...(kind === 'project' ? { ref } : {}), n })
}

/** Equal for exports with the same reference, day and elements. */
function keyOf({ ref, day, firstRef }: Export): string {
  return JSON.stringify([ref, day, elementsOf(firstRef, day)])
}

function elementsOf(ref: string, day: number): readonly string[] {
  return Array.from({ length: day % 4 }, (_, n) => `"${ref}/${day}/${n}"`)
}

/**
 * The first invalid line, where a project has a reference that another project has at that line. Null if all are valid.
 */
export function badLine(world: World, lines: readonly Line[], isReplacement: boolean): number | null {
  /** Keyed by user, then by project. */
  const refs = new Map<string, Map<string, string>>()
  const refsOf = (email: string): Map<string, string> => {
    const stored = isReplacement ? [] : [...(world.get(email)?.documents.values() ?? [])]
    const projects = stored.filter(({ kind }) => kind === 'project')
    const known = refs.get(email) ?? new Map(projects.map(({ id, ref }) => [id, ref]))
    refs.set(email, known)
    return known
  }
  for (const [index, line] of lines.entries()) {
    if (line.type === 'removeUser') refsOf(line.email).clear()
    else if (line.type === 'removeDocument' && line.kind === 'project') refsOf(line.email).delete(line.id)
    else if (line.type === 'document' && line.kind === 'project') {
      const taken = [...refsOf(line.email)].some(([id, ref]) => ref === line.ref && id !== line.id)
      if (taken) return index + 1
      refsOf(line.email).set(line.id, line.ref)
    }
  }
  return null
}

/** Applies an import; the lines must be valid. */
export function apply(world: World, lines: readonly Line[]): void {
  for (const line of lines) applyLine(world, line, follow)
}

/** Exports follow their project to its new reference, unless equal ones are there already. */
function follow({ exports }: User, from: string, to: string): void {
  const all = [...exports.values()]
  const there = new Set(all.filter(({ ref }) => ref === to).map(keyOf))
  exports.clear()
  for (const one of all) {
    const moved = one.ref === from ? { ...one, ref: to } : one
    if (moved === one || !there.has(keyOf(moved))) exports.set(keyOf(moved), moved)
  }
}

function applyLine(world: World, line: Line, onReference: typeof follow): void {
  if (line.type === 'removeUser') {
    world.delete(line.email)
    return
  }
  const isRemoval = line.type === 'removeDocument' || line.type === 'removeExport'
  const user = world.get(line.email) ?? { documents: new Map(), exports: new Map() }
  if (!isRemoval) world.set(line.email, user)
  if (line.type === 'document') {
    const before = user.documents.get(nameOf(line))
    if (before?.kind === 'project' && before.ref !== line.ref) onReference(user, before.ref, line.ref)
    user.documents.set(nameOf(line), line)
  } else if (line.type === 'export') addExport(user, { ref: line.ref, day: line.day, firstRef: line.ref })
  else if (line.type === 'removeExport') removeExports(user, ({ ref, day }) => ref === line.ref && day === line.day)
  else if (line.type === 'removeDocument') {
    const found = user.documents.get(nameOf(line))
    user.documents.delete(nameOf(line))
    if (found?.kind === 'project') removeExports(user, ({ ref }) => ref === found.ref)
  }
}

function addExport({ exports }: User, one: Export): void {
  if (!exports.has(keyOf(one))) exports.set(keyOf(one), one)
}

function removeExports({ exports }: User, isRemoved: (one: Export) => boolean): void {
  for (const [key, one] of exports) if (isRemoved(one)) exports.delete(key)
}

/** Applies a replacement: every user that the lines name gets what they say, and nothing else. */
export function replace(world: World, lines: readonly Line[]): void {
  const wanted: World = new Map()
  // Exports do not follow here: the lines themselves name the reference of each export.
  for (const line of lines) applyLine(wanted, line, () => {})
  for (const [email, user] of wanted) world.set(email, user)
}

export function rename(world: World, from: string, to: string): void {
  const user = world.get(from)
  if (!user || world.has(to)) return
  world.delete(from)
  const documents = [...user.documents.values()].map((one) => ({ ...one, email: to }))
  world.set(to, { documents: new Map(documents.map((one) => [nameOf(one), one])), exports: user.exports })
}

/** The text that `dump` writes. */
export function dumpOf(world: World): string {
  return [...world]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([email, user]) => dumpUser(email, user) || toText({ type: 'user', email }))
    .join('')
}

function dumpUser(email: string, { documents, exports }: User): string {
  const all = [...documents.values()]
  const exportsOf = (ref: string) =>
    [...exports.values()]
      .filter((one) => one.ref === ref)
      .toSorted((a, b) => a.day - b.day)
      .map(({ day, firstRef }) =>
        exportLine(email, { r: ref, createdAt: atDay(day), elements: elementsOf(firstRef, day) }),
      )
  const projects = all.filter(({ kind }) => kind === 'project')
  const refs = new Set(projects.map(({ ref }) => ref))
  const orphans = [...new Set([...exports.values()].map(({ ref }) => ref))].filter((ref) => !refs.has(ref))
  const rest = (kind: Kind) => all.filter((one) => one.kind === kind).map(toText)
  return [
    ...projects.flatMap((one) => [toText(one), ...exportsOf(one.ref)]),
    ...orphans.toSorted().flatMap(exportsOf),
    ...rest('template'),
    ...rest('uiLibrary'),
  ].join('')
}
