import { describe, expect, test } from 'vitest'
import { openPostgresStore } from '../src/store/postgres/open-postgres-store.ts'
import type { Store } from '../src/store/store.ts'
import { describeStore } from './contract/store.ts'
import { POSTGRES_URL, temporaryDatabase } from './support/postgres.ts'

const OPTIONS = { connectTimeoutMs: 5_000, statementTimeoutMs: 10_000, poolSize: 10 }

const open = (url: string): Promise<Store> => openPostgresStore(url, OPTIONS)

describe.skipIf(POSTGRES_URL === null)('postgres', () => {
  describeStore('postgres', async () => {
    const url = await temporaryDatabase()
    return { store: await open(url), reopen: () => open(url) }
  })
  test('x', () => expect(1).toBe(1))
})
