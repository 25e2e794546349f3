// The rows of the benchmark, in running order.
import type { Row } from './row.ts'
import { MIX_ROW } from './rows/mix.ts'
import { POSTGRES_ROWS } from './rows/postgres.ts'
import { READ_ROWS } from './rows/reads.ts'
import { LOGIN_ROW, TOKEN_ROW } from './rows/sign-in.ts'
import { STORE_ROWS } from './rows/stores.ts'

export const ROWS: readonly Row[] = [...READ_ROWS, ...POSTGRES_ROWS, MIX_ROW, LOGIN_ROW, TOKEN_ROW, ...STORE_ROWS]
