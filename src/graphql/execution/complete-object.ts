// Completes an object: resolves and completes its fields in selection order, or reads them from the stored document.
import type { HasText } from '../../resolvers/documents/member-field.ts'
import { nullOrThrow, type Path } from './collected-errors.ts'
import type { FieldPlan, SelectionPlan } from './plan/plan.ts'
import { isVeryLong, readMembers, scanInTurns, shouldDefer } from './read-members.ts'
import type { Run } from './run.ts'
import { Deferred, Failed, isPending, orFailed, type Pending, type Slot, settle, settledValues } from './settle.ts'
import { createTextBuilder, type Text } from './text.ts'

/**
 * UTF-16 units up to which an object is one string. A longer object is charged to the budget before it is joined, and
 * stays in pieces, because V8 limits the length of a string.
 */
const MAX_JOINED = 1_048_576

/** Throws a `FieldFailure` if a non-null field fails. */
export function completeObject(
  selection: SelectionPlan,
  run: Run,
  source: unknown,
  path: Path | null,
): Text | Promise<Text> {
  const { members, resolvedCount } = selection
  run.fieldCount += resolvedCount
  // The cast is safe: only types of stored documents have fields that are members.
  if (members !== null && (isVeryLong(source as HasText) || shouldDefer(run, source as HasText))) {
    return completeLater(selection, run, source, path)
  }
  return completeNow(selection, run, source, path)
}

async function completeLater(selection: SelectionPlan, run: Run, source: unknown, path: Path | null): Promise<Text> {
  const { members } = selection
  await run.yieldTurn()
  if (members !== null && isVeryLong(source as HasText)) await scanInTurns(members, run, source as HasText)
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

/** JSON texts of the members by slot, null for a member without a value; all null if the selection has no members. */
type MemberValues = readonly (string | null)[] | null

/** An object up to its first field that is not a string yet, or that makes it longer than `MAX_JOINED`. */
interface Begun {
  readonly memberValues: MemberValues
  readonly text: string
  readonly ownLength: number
  /** Index of that field. */
  readonly index: number
  /** Value of that field. */
  readonly value: Slot<Text>
}

/** Completes the fields from `begun.index` on. Calls all resolvers before it awaits any of them. */
function completeRest(
  { fields }: SelectionPlan,
  run: Run,
  source: unknown,
  path: Path | null,
  begun: Begun,
): Text | Promise<Text> {
  const rest = fields.slice(begun.index)
  const values: Slot<Text>[] = []
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
    // Fields after a failure are not executed (specification, "Handling Execution Errors").
    else if (value instanceof Failed) break
    else if (typeof value === 'string' && !field.isComposite) ownLength += value.length
  }
  // An exceeded budget counts as a failure after the last field, so that pending fields are still awaited.
  const excess = orFailed(() => run.context.budget.addObject(ownLength))
  if (excess instanceof Failed) values.push(excess)
  const join = (settled: readonly Text[]) => joinFields(begun.text, rest, settled)
  if (!mustWait) return join(settledValues(values))
  return settle(values, (thrown, index) => fieldFailed(rest[index], run, thrown, path), join)
}

/**
 * Returns the failure of a non-null field instead of throwing it: if an earlier, pending field fails too, that failure
 * counts.
 */
function beginField(field: FieldPlan, run: Run, source: unknown, path: Path | null): Slot<Text> {
  try {
    return completeField(field, run, source, path)
  } catch (thrown) {
    return orFailed(() => fieldFailed(field, run, thrown, path))
  }
}

/** Throws or rejects as the resolver does. Not for fields that are members of the stored document. */
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

/** See `nullOrThrow`. */
export function fieldFailed(field: FieldPlan | undefined, run: Run, thrown: unknown, parent: Path | null): Text {
  if (!field) throw thrown
  return nullOrThrow(field, run.errors, thrown, fieldPath(field, parent))
}

/** Joins the fields to one object. `begun` is the text of the fields before them. */
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
