// Executes the fields of a mutation one after another (GraphQL specification, section 6.2.2).

import type { Path } from './collected-errors.ts'
import { completeField, fieldFailed, joinFields } from './complete-object.ts'
import type { SelectionPlan } from './plan/plan.ts'
import type { Run } from './run.ts'
import { Deferred } from './settle.ts'
import type { Text } from './text.ts'

/** Throws a `FieldFailure` if a non-null field fails; the fields after it are not executed. */
export async function completeSerially(
  { fields, frameLength }: SelectionPlan,
  run: Run,
  source: unknown,
  path: Path | null,
): Promise<Text> {
  const values: Text[] = []
  for (const field of fields) {
    try {
      const value = completeField(field, run, source, path)
      values.push(await (value instanceof Deferred ? value.promise.then(value.complete) : value))
    } catch (thrown) {
      values.push(fieldFailed(field, run, thrown, path))
    }
  }
  run.context.budget.addObject(frameLength)
  return joinFields('', fields, values)
}
