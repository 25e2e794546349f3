// Runs random imports, replacements, removals and renames on a store and on the model: after each step both hold the
// same.
import { open, writeFile } from 'node:fs/promises'
import { checkInput } from '../../src/import-export/checks/validate.ts'
import { dumpUsers } from '../../src/import-export/dump.ts'
import { loadInput } from '../../src/import-export/load.ts'
import { replaceInput } from '../../src/import-export/replace.ts'
import type { EditableStore } from '../../src/store/workspace-edits.ts'
import { createSeededRandom, type SeededRandom } from '../support/seeded-random.ts'
import { apply, badLine, dumpOf, type Kind, type Line, rename, replace, toText, type World } from './model.ts'

const EMAILS = ['ana@example.com', 'ben@example.com', 'cat@example.com']
const KINDS: readonly Kind[] = ['project', 'project', 'project', 'template', 'uiLibrary']
const FIELDS = { idFields: ['id'], refFields: ['ref'] }
const MAX_LINES = 12

/** Runs one sequence of steps and throws at the first difference, with all steps so far in the message. */
export async function runEdits(store: EditableStore, steps: number, seed: number, inputPath: string): Promise<void> {
  const random = createSeededRandom(seed)
  const world: World = new Map()
  const told: string[] = []
  for (let step = 0; step < steps; step += 1) {
    told.push(await runStep(store, world, random, inputPath))
    const [found, wanted] = [await dumpStore(store), dumpOf(world)]
    if (found !== wanted) {
      throw new Error(`seed ${seed}: after\n${told.join('\n')}\nfound\n${found}\nwanted\n${wanted}`)
    }
  }
}

async function runStep(store: EditableStore, world: World, random: SeededRandom, path: string): Promise<string> {
  const kind = random.below(10)
  const [from = '', to = ''] = random.sample(EMAILS, 2)
  if (kind === 0) {
    await store.removeUsers([from])
    world.delete(from)
    return `users remove ${from}`
  }
  if (kind === 1) {
    await store.renameUser(from, to)
    rename(world, from, to)
    return `users rename ${from} ${to}`
  }
  const isReplacement = kind < 5
  const lines = Array.from({ length: 1 + random.below(MAX_LINES) }, () => randomLine(random, isReplacement))
  const bad = badLine(world, lines, isReplacement)
  const firstBad = await importLines(store, lines, isReplacement, path)
  const said = `import${isReplacement ? ' --replace' : ''}\n${lines.map(toText).join('')}`
  if (firstBad !== bad) throw new Error(`${said}\nline ${firstBad} was bad, not ${bad}, in\n${dumpOf(world)}`)
  if (bad === null) (isReplacement ? replace : apply)(world, lines)
  return said
}

function randomLine(random: SeededRandom, isReplacement: boolean): Line {
  const [email = '', kind = 'project'] = [EMAILS[random.below(EMAILS.length)], KINDS[random.below(KINDS.length)]]
  const [id, ref, day] = [`d${random.below(4)}`, `r${random.below(5)}`, 1 + random.below(5)]
  const dice = random.below(isReplacement ? 12 : 20)
  if (dice < 8) return { type: 'document', email, kind, id, ref, n: random.below(3) }
  if (dice < 11) return { type: 'export', email, ref, day }
  if (dice < 12) return { type: 'user', email }
  if (dice < 16) return { type: 'removeDocument', email, kind, id }
  return dice < 19 ? { type: 'removeExport', email, ref, day } : { type: 'removeUser', email }
}

/** Returns the number of the first invalid line; nothing is imported then. */
async function importLines(
  store: EditableStore,
  lines: readonly Line[],
  isReplacement: boolean,
  path: string,
): Promise<number | null> {
  await writeFile(path, lines.map(toText).join(''))
  const file = await open(path)
  try {
    const checked = await checkInput(file, FIELDS, store, () => {}, { isReplacement })
    const [bad] = checked.bad.first
    if (bad) return bad.line
    const options = {
      fields: FIELDS,
      clock: Date.now,
      onProgress() {},
      onRejected: refuse,
      isDryRun: false,
      onUser() {},
    }
    if (isReplacement) await replaceInput(file, checked, store, options)
    else await loadInput(file, checked, store, options)
    return null
  } finally {
    await file.close()
  }
}

async function refuse(): Promise<void> {
  throw new Error('a line that was good was not imported')
}

async function dumpStore(store: EditableStore): Promise<string> {
  await using snapshot = await store.openSnapshot()
  return (await Array.fromAsync(dumpUsers(snapshot))).join('')
}
