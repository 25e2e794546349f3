// Completes a list: turns its items into text, over as many turns of the event loop as needed, with a bound on items
// that wait for reads.
import { type FieldNode, GraphQLError } from 'graphql'
import { isPaged, type NextPage, type Paged } from '../../resolvers/pagination/paged.ts'
import { nullOrThrow, type Path } from './collected-errors.ts'
import type { Complete } from './plan/plan.ts'
import type { Run } from './run.ts'
import { Failed, orFailed, settle, settledValues } from './settle.ts'
import { createTextBuilder, type Text, type TextBuilder } from './text.ts'
import { itemsOfLength } from './turn-clock.ts'

/** Maximum items of a segment. A segment is added to the text of the list before the next one begins. */
const MAX_SEGMENT = 1_000
/**
 * Maximum number of items, in all lists of one response, that wait for reads at the same time. Each holds some 9 kB
 * plus the data read for it. With more of them, V8 promotes this memory to the old generation, which only a full
 * garbage collection frees.
 */
const MAX_PENDING = 100
/** Items between two checks of the clock. */
const STRIDE = 16
/** An item with more resolved fields than this counts as several items for the clock. */
const FIELDS_PER_BEGUN_ITEM = 4
/** The same for `MAX_PENDING`. */
const FIELDS_PER_PENDING_ITEM = 16

/** How the items of a list are completed, and whether they may be null. */
interface ItemPlan {
  readonly complete: Complete
  readonly isNullable: boolean
  readonly nodes: readonly FieldNode[]
}

/** Consecutive items that were begun in one turn. */
interface Segment {
  readonly values: (Text | Promise<Text> | Failed)[]
  /** Number of items that wait for reads, as `MAX_PENDING` counts them; 0 if none does. */
  readonly pendingCount: number
  /** Index of the first item after them. */
  readonly end: number
}

export function completeList(complete: Complete, isNullable: boolean, nodes: readonly FieldNode[]): Complete {
  const plan: ItemPlan = { complete, isNullable, nodes }
  return (run, value, path) => {
    if (isPaged(value)) return completePages(plan, run, value, path)
    const items = toArray(value, nodes)
    if (run.clock.isOverdue(items.length, Math.min(items.length, STRIDE))) return completeLater(plan, run, items, path)
    const segment = beginSegment(plan, run, items, 0, 0, path)
    if (segment.pendingCount > 0 || segment.end < items.length) return completeRest(plan, run, items, path, segment)
    return joinItems(settledValues(segment.values))
  }
}

function toArray(value: unknown, nodes: readonly FieldNode[]): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new GraphQLError(`Expected a list, but did not find one for field "${nodes[0]?.name.value}".`)
}

/**
 * Begins items from `start` on: at least one, and no further item once the turn has taken long enough or `MAX_PENDING`
 * items wait. `offset` is the index of `items[0]` in the whole list, since `items` may be one page of it.
 */
function beginSegment(
  plan: ItemPlan,
  run: Run,
  items: readonly unknown[],
  start: number,
  offset: number,
  path: Path | null,
): Segment {
  const values: Segment['values'] = []
  let [pendingCount, begunCount] = [0, 0]
  let end = start
  while (end < items.length && end - start < MAX_SEGMENT) {
    const index = offset + end
    const fieldsBefore = run.fieldCount
    const lengthBefore = run.scannedLength
    const value = completeItem(plan, run, items[end], { parent: path, key: index, order: index })
    const fields = run.fieldCount - fieldsBefore
    values.push(value)
    end += 1
    begunCount += toItemCount(fields, FIELDS_PER_BEGUN_ITEM) + itemsOfLength(run.scannedLength - lengthBefore)
    if (value instanceof Promise) {
      const pending = toItemCount(fields, FIELDS_PER_PENDING_ITEM)
      pendingCount += pending
      run.pendingCount += pending
      if (run.pendingCount >= MAX_PENDING) break
    } else if (value instanceof Failed) return { values, pendingCount, end: items.length }
    if (begunCount < STRIDE) continue
    if (run.clock.isOverdue(items.length, begunCount)) break
    begunCount = 0
  }
  return { values, pendingCount, end }
}

function toItemCount(fields: number, fieldsPerItem: number): number {
  return Math.max(1, Math.ceil(fields / fieldsPerItem))
}

function completeItem(plan: ItemPlan, run: Run, item: unknown, path: Path): Text | Promise<Text> | Failed {
  try {
    return plan.complete(run, item, path)
  } catch (thrown) {
    return orFailed(() => nullOrThrow(plan, run.errors, thrown, path))
  }
}

/**
 * Waits until no item of the segment is pending, then adds their texts. Throws the first failure of a non-null item.
 */
async function addSegment(
  plan: ItemPlan,
  run: Run,
  segment: Segment,
  firstIndex: number,
  path: Path | null,
  builder: TextBuilder,
): Promise<void> {
  function failed(thrown: unknown, at: number): Text {
    const index = firstIndex + at
    return nullOrThrow(plan, run.errors, thrown, { parent: path, key: index, order: index })
  }
  const settled = segment.pendingCount > 0 ? await settleSegment(run, segment, failed) : settledValues(segment.values)
  settled.forEach((value, at) => {
    if (firstIndex + at > 0) builder.add(',')
    builder.add(value)
  })
}

async function settleSegment(
  run: Run,
  { values, pendingCount }: Segment,
  failed: (thrown: unknown, at: number) => Text,
): Promise<readonly Text[]> {
  try {
    return await settle(values, failed, (all) => all)
  } finally {
    run.pendingCount -= pendingCount
  }
}

async function completeLater(plan: ItemPlan, run: Run, items: readonly unknown[], path: Path | null): Promise<Text> {
  await run.yieldTurn()
  return completeRest(plan, run, items, path, beginSegment(plan, run, items, 0, 0, path))
}

async function completeRest(
  plan: ItemPlan,
  run: Run,
  items: readonly unknown[],
  path: Path | null,
  first: Segment,
): Promise<Text> {
  const builder = createTextBuilder()
  builder.add('[')
  await addSegment(plan, run, first, 0, path, builder)
  await addItems(plan, run, items, first.end, 0, path, builder)
  builder.add(']')
  return builder.build()
}

async function addItems(
  plan: ItemPlan,
  run: Run,
  items: readonly unknown[],
  start: number,
  offset: number,
  path: Path | null,
  builder: TextBuilder,
): Promise<void> {
  for (let at = start; at < items.length; ) {
    if (run.clock.isOverdue(items.length, 0)) await run.yieldTurn()
    const segment = beginSegment(plan, run, items, at, offset, path)
    await addSegment(plan, run, segment, offset + at, path, builder)
    at = segment.end
  }
}

/** Releases each page before it reads the next one. A list that is read in pages counts as long. */
async function completePages(plan: ItemPlan, run: Run, { nextPage }: Paged<unknown>, path: Path | null): Promise<Text> {
  run.clock.expectLong()
  const builder = createTextBuilder()
  builder.add('[')
  for (let offset = 0; ; ) {
    const count = await addPage(plan, run, nextPage, offset, path, builder)
    if (count === null) break
    offset += count
  }
  builder.add(']')
  return builder.build()
}

/**
 * Returns the number of items, or null after the last page. This is a separate function so that no variable refers to a
 * page while the next one is read.
 */
async function addPage(
  plan: ItemPlan,
  run: Run,
  nextPage: NextPage<unknown>,
  offset: number,
  path: Path | null,
  builder: TextBuilder,
): Promise<number | null> {
  const items = await nextPage()
  if (!items) return null
  await addItems(plan, run, items, 0, offset, path, builder)
  return items.length
}

function joinItems(values: readonly Text[]): Text {
  let joined = ''
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index]
    if (typeof value !== 'string' || joined.length > 65_536) return joinPieces(values)
    joined += index === 0 ? value : `,${value}`
  }
  return `[${joined}]`
}

function joinPieces(values: readonly Text[]): Text {
  const builder = createTextBuilder()
  values.forEach((value, index) => {
    builder.add(index === 0 ? '[' : ',')
    builder.add(value)
  })
  builder.add(']')
  return builder.build()
}
