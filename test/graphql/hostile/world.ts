// A large workspace beside a small one, as import lines.
import { documentLine, exportLine } from '../../support/workspaces.ts'

export const ATTACKER = 'attacker@example.com'
export const VICTIM = 'victim@example.com'

const PROJECTS = 60
const EXPORTS = 2
const ELEMENTS = 22

/**
 * Template ids. The members of these documents take long to find and to check. In the large world, the first document
 * is as long as a document may be.
 */
export const GRID = 'grid'
export const ALMOST_STRINGS = 'almost-strings'
const MAX_GRID_BYTES = 15_000_000
const MAX_STRINGS_BYTES = 4_000_000

/** The attacker's exports have about this many bytes. */
export function* largeWorld(bytes: number): Iterable<string> {
  const content = 'x y '.repeat(Math.ceil(bytes / (PROJECTS * EXPORTS * ELEMENTS * 4)))
  for (let project = 0; project < PROJECTS; project += 1) {
    const ref = `p${project}`
    yield documentLine('project', ATTACKER, JSON.stringify({ id: ref, ref, name: `Project ${project}`, tags: ['a'] }))
    for (let month = 1; month <= EXPORTS; month += 1) {
      const elements = Array.from({ length: ELEMENTS }, (_, index) =>
        JSON.stringify({
          id: `e${index}`,
          name: `the file with the number ${index}`,
          path: `src/${index}.ts`,
          content,
        }),
      )
      yield exportLine(ATTACKER, { r: ref, createdAt: `2026-0${month}-01T00:00:00Z`, elements })
    }
  }
  const grid = '[1],'.repeat(Math.min(MAX_GRID_BYTES, bytes / 4) / 4)
  yield documentLine('template', ATTACKER, `{"id":"${GRID}","grid":[${grid}1],"name":"N"}`)
  const strings = '"a",'.repeat(Math.min(MAX_STRINGS_BYTES, bytes / 4) / 4)
  yield documentLine('template', ATTACKER, `{"id":"${ALMOST_STRINGS}","tags":[${strings}1]}`)
  yield documentLine('project', VICTIM, '{"id":"v","ref":"v","name":"Of the victim"}')
}
