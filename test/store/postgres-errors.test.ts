// Tests how errors of PostgreSQL become errors of the contract: which are temporary, which end the connection, which
// server fits.
import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import { StoreClosedError, StoreMovedError } from '../../src/store/cutover/contract.ts'
import {
  assertActive,
  ConnectionLostError,
  isRolledBack,
  leavesCommitOpen,
  SQLSTATE_CLOSED,
  SQLSTATE_MOVED,
  sqlState,
  toStoreError,
} from '../../src/store/postgres/engine/faults/pg-errors.ts'
import { toPart } from '../../src/store/postgres/engine/page-parts.ts'
import { inListOrder, requireNext } from '../../src/store/postgres/engine/read-verb.ts'
import {
  assertAccess,
  beginSession,
  beginTransaction,
  isOtherServer,
} from '../../src/store/postgres/engine/session-settings.ts'

function failed(code?: string): DatabaseError {
  const error = new DatabaseError('why', 3, 'error')
  if (code !== undefined) error.code = code
  return error
}

test.each([
  ['08006', ConnectionLostError],
  ['57P01', ConnectionLostError],
  ['25006', ConnectionLostError],
  ['25P01', ConnectionLostError],
  ['25P02', ConnectionLostError],
  ['25P03', ConnectionLostError],
  ['53300', StoreUnavailableError],
  ['57014', StoreUnavailableError],
  ['55P03', StoreUnavailableError],
  ['40001', StoreUnavailableError],
  ['40P01', StoreUnavailableError],
  ['58030', StoreUnavailableError],
  [SQLSTATE_CLOSED, StoreClosedError],
  [SQLSTATE_MOVED, StoreMovedError],
])('SQLSTATE %s becomes the matching error of the contract', (code, expected) => {
  const error = failed(code)
  const told = toStoreError(error)
  expect(told).toBeInstanceOf(expected)
  expect(told instanceof ConnectionLostError).toBe(expected === ConnectionLostError)
  expect(told).toMatchObject({ cause: error })
  expect(isRolledBack(told)).toBe(code === '40001' || code === '40P01')
  expect(sqlState(error)).toBe(code)
})

test.each(['08P01', '53300', '57014'])('the error for SQLSTATE %s contains the message of the server', (code) => {
  const told = toStoreError(Object.assign(failed(code), { message: 'too many connections for role "workspace"' }))
  expect(told).toMatchObject({ message: expect.stringMatching(/^the database .*: too many connections for role/) })
})

test('a programming error stays as it is, and anything that is no answer of the server is a lost connection', () => {
  for (const mistake of [failed('23505'), failed('42601'), failed()]) {
    expect(toStoreError(mistake)).toBe(mistake)
    expect(isRolledBack(mistake)).toBe(false)
  }
  expect(toStoreError(new Error('read ECONNRESET'))).toBeInstanceOf(ConnectionLostError)
  const told = new StoreUnavailableError('told already')
  expect(toStoreError(told)).toBe(told)
  expect([sqlState(failed()), sqlState(new Error('why')), isRolledBack('40001')]).toEqual(['', '', false])
})

test.each([
  ['user_email_key', true],
  ['user_pkey', true],
  ['document_ref', false],
])('a transaction is retried if another one took the same value of %s: %s', (constraint, isRetried) => {
  const told = toStoreError(Object.assign(failed('23505'), { constraint }))
  expect([told instanceof StoreUnavailableError, isRolledBack(told)]).toEqual([isRetried, isRetried])
})

test('a server without free transaction ids is unavailable; another program limit is a programming error', () => {
  const refusedIn = (routine: string) => Object.assign(failed('54000'), { routine })
  for (const routine of ['GetNewTransactionId', 'GetNewMultiXactId']) {
    expect(toStoreError(refusedIn(routine))).toBeInstanceOf(StoreUnavailableError)
    expect(toStoreError(refusedIn(routine))).not.toBeInstanceOf(ConnectionLostError)
  }
  const tooLong = refusedIn('index_form_tuple')
  expect(toStoreError(tooLong)).toBe(tooLong)
  expect(toStoreError(failed('54000'))).not.toBeInstanceOf(StoreUnavailableError)
})

test('a commit is undecided after a notice of a shutdown, of a lost standby, or of an unknown warning', () => {
  const isOpen = [
    { code: '57P01', routine: 'ProcessInterrupts' },
    { code: '01000', routine: 'SyncRepWaitForLSN' },
    { code: '01000' },
  ].map(leavesCommitOpen)
  expect(isOpen).toEqual([true, true, true])
  const others = [{ code: '01000', routine: 'GetNewTransactionId' }, { code: '00000', routine: 'exec_stmt_raise' }, {}]
  expect(others.map(leavesCommitOpen)).toEqual([false, false, false])
})

test('a session with a database that has moved is refused', () => {
  expect(() => assertActive('t')).toThrow(StoreMovedError)
  for (const active of ['f', undefined, null]) expect(() => assertActive(active)).not.toThrow()
})

test.each([
  ['read-write', { standby: 'false', readonly: 'off' }, true],
  ['read-write', { standby: 'true', readonly: 'off' }, false],
  ['read-write', { standby: 'false', readonly: 'on' }, false],
  ['any', { standby: 'true', readonly: 'on' }, true],
  ['any', { standby: 'false', readonly: 'off' }, true],
  ['standby', { standby: 'true', readonly: 'on' }, true],
  ['standby', { standby: 'false', readonly: 'on' }, false],
  ['standby', undefined, false],
] as const)('for access %s, a server with %j fits: %s', (access, state, isGood) => {
  if (isGood) expect(() => assertAccess(state, access)).not.toThrow()
  else expect(() => assertAccess(state, access)).toThrow(ConnectionLostError)
})

test('isOtherServer compares process ids, and is always true if each transaction has its own server', () => {
  expect(isOtherServer({ processId: '12' }, 'auto', 12)).toBe(false)
  expect(isOtherServer({ processId: '13' }, 'auto', 12)).toBe(true)
  expect(isOtherServer(undefined, 'auto', 12)).toBe(true)
  expect(isOtherServer({ processId: '13' }, 'session', 12)).toBe(false)
  expect(isOtherServer({ processId: '12' }, 'transaction', 12)).toBe(true)
})

test('settings apply to a session, or to one transaction', () => {
  const session = beginSession(3_000, 'auto', 12)
  expect(session).toContain(`set_config('statement_timeout', '3000', false)`)
  expect(session).not.toMatch(/set_config\([^)]*, true\)/)
  const transaction = beginTransaction('isolation level serializable', 3_000)
  expect(transaction).toMatch(
    /^begin isolation level serializable; select set_config\('statement_timeout', '3000', true\)/,
  )
  expect(transaction).not.toMatch(/set_config\([^)]*, false\)/)
})

test('rows are sorted into the order of the list, and a row without a text only says that there are more', () => {
  expect(inListOrder([1, 2, 3], '')).toEqual([1, 2, 3])
  expect(inListOrder([3, 2, 1], 'desc')).toEqual([1, 2, 3])
  const row = (position: number, text: string | null) => ({ position, text })
  const positions = (rows: readonly ReturnType<typeof row>[]) => toPart(rows, ({ position }) => position)
  expect(positions([row(3, 'c'), row(1, 'a'), row(2, 'b')])).toEqual({ items: [1, 2, 3], isCut: false })
  expect(positions([row(1, 'a'), row(2, '')])).toEqual({ items: [1, 2], isCut: false })
  expect(positions([row(1, 'a'), row(2, null)])).toEqual({ items: [1], isCut: true })
  const values = [1].values()
  expect(requireNext(values)).toBe(1)
  expect(() => requireNext(values)).toThrow('not answered')
})
