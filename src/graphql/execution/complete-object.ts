// The text of one object: its fields in the order of the selection, each resolved, completed, or taken from the stored text.
import { GraphQLError } from 'graphql'
import { type HasText, readMemberTexts } from '../../resolvers/documents/member-field.ts'
import { FieldFailure, type Path } from './collected-errors.ts'
import { ExecutionAborted } from './execution-aborted.ts'
import type { FieldPlan, SelectionPlan } from './plan.ts'
import type { Run } from './run.ts'
import { Failed, settle, settledValues } from './settle.ts'
import { createTextBuilder, type Text } from './text.ts'

/** An error takes about this much room in an answer, in UTF-16 units. */
const ERROR_LENGTH = 256

/** Throws a `FieldFailure` where a field that may not be null failed. */
export function completeObject(
  selection: SelectionPlan,
  run: Run,
  source: unknown,
  path: Path | null,
): Text | Promise<Text> {
  const { fields, members } = selection
  // Fields of members stand on types of stored documents only.
  const memberTexts = members && readMemberTexts(source as HasText, members)
  const values: (Text | Promise<Text> | Failed)[] = []
  let ownLength = selection.frameLength
  let isPending = false
  for (const field of fields) {
    const value = settleField(field, run, source, path, memberTexts)
    values.push(value)
    if (value instanceof Promise) isPending = true
    // What follows a failure is never executed (specification, "Handling Execution Errors").
    else if (value instanceof Failed) break
    else if (typeof value === 'string' && !field.isComposite) ownLength += value.length
  }
  run.budget.addObject(ownLength)
  if (!isPending) return joinFields(fields, settledValues(values))
  return settle(values, (thrown, index) => fieldFailed(fields[index], run, thrown, path)).then(() =>
    joinFields(fields, settledValues(values)),
  )
}

/** A failure of the field itself is answered, not thrown: a field before it may fail as well, and comes first. */
function settleField(
  field: FieldPlan,
  run: Run,
  source: unknown,
  path: Path | null,
  memberTexts: readonly (string | null)[] | null,
): Text | Promise<Text> | Failed {
  try {
    return completeField(field, run, source, path, memberTexts)
  } catch (thrown) {
    try {
      return fieldFailed(field, run, thrown, path)
    } catch (failure) {
      return new Failed(failure)
    }
  }
}

/** Throws, or rejects with, whatever the resolver does. */
export function completeField(
  field: FieldPlan,
  run: Run,
  source: unknown,
  path: Path | null,
  memberTexts: readonly (string | null)[] | null,
): Text | Promise<Text> {
  if (field.constant !== null) return field.constant
  if (field.member !== null) {
    const written = memberTexts?.[field.memberSlot] ?? null
    return (written !== null && field.member.accept(written)) || 'null'
  }
  const value = field.resolve(source, run)
  if (value instanceof Promise) return value.then((resolved) => field.complete(run, resolved, fieldPath(field, path)))
  return field.complete(run, value, fieldPath(field, path))
}

function fieldPath({ responseName, order }: FieldPlan, parent: Path | null): Path {
  return { parent, key: responseName, order }
}

/** `null` where the field may be null, and the error is collected; else throws. */
export function fieldFailed(field: FieldPlan | undefined, run: Run, thrown: unknown, parent: Path | null): Text {
  if (!field || thrown instanceof ExecutionAborted) throw thrown
  const path = fieldPath(field, parent)
  const failure = thrown instanceof FieldFailure ? thrown : new FieldFailure(toError(thrown), field.nodes, path)
  if (!field.isNullable) throw failure
  run.budget.addLength(ERROR_LENGTH)
  run.errors.add(failure, path)
  return 'null'
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new GraphQLError(String(thrown))
}

export function joinFields(fields: readonly FieldPlan[], values: readonly Text[]): Text {
  let joined = ''
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index]
    const key = fields[index]?.key ?? ''
    if (typeof value !== 'string') return joinPieces(fields, values)
    joined += index === 0 ? key + value : `,${key}${value}`
  }
  return `{${joined}}`
}

function joinPieces(fields: readonly FieldPlan[], values: readonly Text[]): Text {
  const builder = createTextBuilder()
  values.forEach((value, index) => {
    builder.add(`${index === 0 ? '{' : ','}${fields[index]?.key ?? ''}`)
    builder.add(value)
  })
  builder.add('}')
  return builder.build()
}
