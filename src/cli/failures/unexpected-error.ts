// Describes an error that no command expects in one line: what happened, where, and that it should be reported.
import { reasonOf } from '../../errors.ts'

/** How a frame of a stack names a file that is not Node's own. */
const FILE = /^ +at .*file:\/\//

export function describeUnexpected(thrown: unknown): string {
  const reason = reasonOf(thrown).replaceAll('\n', ' ')
  const places = thrown instanceof Error ? placesOf(thrown.stack ?? '') : []
  const where = places.length === 0 ? '' : ` (at ${places.join(', ')})`
  return `unexpected error: ${reason}${where}. This may be a bug: report this line, with the version and the command`
}

/** Returns file, line and column of each frame, without the folders: those are the operator's. */
function placesOf(stack: string): readonly string[] {
  const frames = stack.split('\n').filter((line) => FILE.test(line))
  return frames.map((frame) => frame.slice(frame.lastIndexOf('/') + 1).replace(/\)$/, ''))
}
