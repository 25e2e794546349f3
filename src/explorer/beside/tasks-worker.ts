// The Web Worker of `offload`: each of its tasks takes texts and returns what the page shows of them.
import { readAnswer } from '../answer/reading.ts'
import { compareTexts } from '../rosetta/comparison.ts'
import { partsOf } from '../workspace/document-parts.ts'
import { changesBetween } from '../workspace/project/changes.ts'
import { elementsOf } from '../workspace/project/elements.ts'
import { diffLines } from '../workspace/project/line-changes.ts'

const TASKS = { readAnswer, compareTexts, changesBetween, elementsOf, partsOf, diffLines }

export type Tasks = typeof TASKS

export interface Task {
  readonly name: keyof Tasks
  readonly given: readonly unknown[]
}

export interface Reply {
  readonly result: unknown
}

addEventListener('message', ({ data: { name, given } }: MessageEvent<Task>) => {
  const run = TASKS[name] as (...given: readonly unknown[]) => unknown
  // An exception here raises an error event of the worker, to which the page listens.
  postMessage({ result: run(...given) } satisfies Reply)
})
