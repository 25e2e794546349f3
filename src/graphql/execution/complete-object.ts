// Completes an object: its fields in the order of the selection, each resolved and completed, or taken from the stored document.
import type { HasText } from '../../resolvers/documents/member-field.ts'
import { RequestAborted } from '../../resolvers/request-budget.ts'
import { FieldFailure, type Path } from './collected-errors.ts'
import type { FieldPlan, SelectionPlan } from './plan/plan.ts'
import { isForLater, readMembers } from './read-members.ts'
import type { Run } from './run.ts'
import { Deferred, Failed, isPending, type Pending, settle, settledValues } from './settle.ts'
import { createTextBuilder, type Text } from './text.ts'

/** UTF-16 units up to which an object is one string. A longer one is asked of the budget before it is put together, and left in pieces: V8's strings have an end. */
const MAX_JOINED = 1_048_576

/** Throws a `FieldFailure` where a field that may not be null failed. */
export function completeObject(
  selection: SelectionPlan,
  run: Run,
  source: unknown,
  path: Path | null,
): Text | Promise<Text> {
  const { members, resolvedCount } = selection
  run.fieldCount += resolvedCount
  // Only types of stored documents have fields that are members.
  if (members !== null && isForLater(run, source as HasText)) {
    return completeLater(selection, run, source, path)
  }
  return completeNow(selection, run, source, path)
}

async function completeLater(selection: SelectionPlan, run: Run, source: unknown, path: Path | null): Promise<Text> {
  await run.yieldTurn()
  return completeNow(selection, run, source, path)
}

function completeNow(selection: SelectionPlan, run: Run, source: unknown, path: Path | null): Text | Promise<Text> {
  const { fields, members } = selection
  const memberValues = members && readMembers(members, run, source as HasText)
  let text = ''
  let ownLength = selection.frameLength
  for (let index = 0; index < fields.length; index += 1) {
    const field = fields[index]
    if (!field) break
    const value =
      field.memberSlot === -1 ? beginField(field, run, source, path) : (memberValues?.[field.memberSlot] ?? 'null')
    if (typeof value !== 'string' || text.length + value.length > MAX_JOINED) {
      return completeRest(selection, run, source, path, { memberValues, text, ownLength, index, value })
    }
    if (!field.isComposite) ownLength += value.length
    text += field.opening + value
  }
  run.context.budget.addObject(ownLength)
  return fields.length === 0 ? '{}' : `${text}}`
}

/** By slot. */
type MemberValues = readonly (string | null)[] | null

/** An object up to its first field that is no string yet, or makes it long. */
interface Begun {
  readonly memberValues: MemberValues
  readonly text: string
  readonly ownLength: number
  /** Of that field. */
  readonly index: number
  /** Of that field. */
  readonly value: Text | Pending<Text> | Failed
}

/** Completes the fields from there on. All resolvers are called before any of them is awaited. */
function completeRest(
  { fields }: SelectionPlan,
  run: Run,
  source: unknown,
  path: Path | null,
  begun: Begun,
): Text | Promise<Text> {
  const rest = fields.slice(begun.index)
  const values: (Text | Pending<Text> | Failed)[] = []
  const { memberValues } = begun
  let { ownLength } = begun
  let mustWait = false
  for (const field of rest) {
    const value =
      values.length === 0
        ? begun.value
        : field.memberSlot === -1
          ? beginField(field, run, source, path)
          : (memberValues?.[field.memberSlot] ?? 'null')
    values.push(value)
    if (isPending(value)) mustWait = true
    // What follows a failure is never executed (specification, "Handling Execution Errors").
    else if (value instanceof Failed) break
    else if (typeof value === 'string' && !field.isComposite) ownLength += value.length
  }
  // As if the last field had failed: pending fields are still awaited.
  const excess = countObject(run, ownLength)
  if (excess) values.push(excess)
  const join = (settled: readonly Text[]) => joinFields(begun.text, rest, settled)
  if (!mustWait) return join(settledValues(values))
  return settle(values, (thrown, index) => fieldFailed(rest[index], run, thrown, path), join)
}

function countObject(run: Run, length: number): Failed | null {
  try {
    run.context.budget.addObject(length)
    return null
  } catch (thrown) {
    return new Failed(thrown)
  }
}

/** Answers the failure of a non-null field, in place of throwing it: an earlier field that is pending may fail too, and then that failure counts. */
function beginField(field: FieldPlan, run: Run, source: unknown, path: Path | null): Text | Pending<Text> | Failed {
  try {
    return completeField(field, run, source, path)
  } catch (thrown) {
    try {
      return fieldFailed(field, run, thrown, path)
    } catch (failure) {
      return new Failed(failure)
    }
  }
}

/** Throws or rejects with what the resolver throws or rejects with. Not for fields that are members of the stored document. */
export function completeField(field: FieldPlan, run: Run, source: unknown, path: Path | null): Text | Pending<Text> {
  if (field.constant !== null) return field.constant
  const value = field.resolve(source, run)
  if (value instanceof Promise) {
    return new Deferred(value, (answer) => field.complete(run, answer, fieldPath(field, path)))
  }
  return field.complete(run, value, field.isLeaf ? null : fieldPath(field, path))
}

function fieldPath({ responseName, order }: FieldPlan, parent: Path | null): Path {
  return { parent, key: responseName, order }
}

/** Answers `null` for a nullable field, and collects the error. Throws the failure of a non-null field. */
export function fieldFailed(field: FieldPlan | undefined, run: Run, thrown: unknown, parent: Path | null): Text {
  if (!field || thrown instanceof RequestAborted) throw thrown
  const path = fieldPath(field, parent)
  const failure = thrown instanceof FieldFailure ? thrown : new FieldFailure(thrown, field.nodes, path)
  if (!field.isNullable) throw failure
  run.errors.add(failure, path)
  return 'null'
}

/** `begun` is the text of the fields before these. */
export function joinFields(begun: string, fields: readonly FieldPlan[], values: readonly Text[]): Text {
  let joined = begun
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index]
    if (typeof value !== 'string' || joined.length + value.length > MAX_JOINED) return joinPieces(begun, fields, values)
    joined += (fields[index]?.opening ?? '') + value
  }
  return joined === '' ? '{}' : `${joined}}`
}

function joinPieces(begun: string, fields: readonly FieldPlan[], values: readonly Text[]): Text {
  const builder = createTextBuilder()
  builder.add(begun)
  values.forEach((value, index) => {
    builder.add(fields[index]?.opening ?? '')
    builder.add(value)
  })
  builder.add('}')
  return builder.build()
}
