// Orders the test files of a run. Vitest starts large files first, because it does not know durations in a fresh clone.
// A short file whose test takes long would then start last, and the other workers would wait for it.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Short files that take more than ten seconds. */
const SHORT_BUT_LONG = [
  'test/crash.test.ts',
  'test/edits-readers.test.ts',
  'test/explorer/states/states.test.ts',
  'test/faults/power-cut.test.ts',
  'test/faults/silent-postgres.test.ts',
  'test/graphql/differential-fuzz.test.ts',
  'test/graphql/hostile-documents.test.ts',
  'test/histories.test.ts',
  'test/limit-young-generation.test.ts',
  'test/move-in/afternoon.test.ts',
  'test/regular-expressions.test.ts',
  'test/sign-in/store.test.ts',
]

export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => SHORT_BUT_LONG.some((path) => moduleId.endsWith(`/${path}`))
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
