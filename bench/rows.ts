// Lists the rows of the benchmark in running order.
import type { Row } from './row.ts'
import { EXPORT_ROWS } from './rows/exports.ts'
import { GRAPHQL_ROWS } from './rows/graphql.ts'
import { GROWTH_ROW, START_ROW } from './rows/growth.ts'
import { IMPORT_ROW } from './rows/import.ts'
import { MIX_ROW } from './rows/mix.ts'
import { OVERLOAD_ROW } from './rows/overload.ts'
import { POSTGRES_ROWS } from './rows/postgres.ts'
import { READ_ROWS } from './rows/reads.ts'
import { SIGHT_ROWS } from './rows/sight.ts'
import { LOGIN_ROW, TOKEN_ROW } from './rows/sign-in.ts'
import { STORE_ROWS } from './rows/stores.ts'

export const ROWS: readonly Row[] = [
  ...READ_ROWS,
  ...GRAPHQL_ROWS,
  ...POSTGRES_ROWS,
  MIX_ROW,
  ...SIGHT_ROWS,
  LOGIN_ROW,
  TOKEN_ROW,
  ...EXPORT_ROWS,
  IMPORT_ROW,
  GROWTH_ROW,
  START_ROW,
  ...STORE_ROWS,
  OVERLOAD_ROW,
]
