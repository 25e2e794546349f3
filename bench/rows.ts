// The rows of the benchmark, in running order.
import type { Row } from './row.ts'
import { READ_ROWS } from './rows/reads.ts'

export const ROWS: readonly Row[] = [...READ_ROWS]
