// The rows of the benchmark, in running order.
import type { Row } from './row.ts'
import { MIX_ROW } from './rows/mix.ts'
import { READ_ROWS } from './rows/reads.ts'
import { LOGIN_ROW, TOKEN_ROW } from './rows/sign-in.ts'

export const ROWS: readonly Row[] = [...READ_ROWS, MIX_ROW, LOGIN_ROW, TOKEN_ROW]
