// Finds the processes that a process has started; Linux only.
import { readFile } from 'node:fs/promises'

/** None for a process that has ended. */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return children.split(' ').filter(Boolean).map(Number)
}
