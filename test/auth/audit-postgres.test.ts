// Tests the audit log on PostgreSQL when the connection breaks after a commit and before its answer arrives.
import { describe, expect, test } from 'vitest'
import { openAuditLog } from '../../src/auth/audit/audit-log.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { execute, POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { startRelay } from '../support/relay.ts'
import { ANA } from '../support/workspaces.ts'

const OPTIONS = { connectTimeoutMs: 30_000, statementTimeoutMs: 20_000, poolSize: 2 }

/**
 * Starts a relay to the server of `url`. It withholds the answer to the first commit of audit entries and then closes
 * the connection.
 */
async function startLosingRelay(url: string) {
  const to = new URL(url)
  let lost = 0
  const { port } = await startRelay({
    host: to.hostname,
    port: Number(to.port),
    relay(client, upstream) {
      let isWriting = false
      let isLosing = false
      client.on('data', (chunk: Buffer) => {
        isWriting ||= chunk.includes('addAuditEntries')
        isLosing = isWriting && lost === 0 && chunk.includes('commit\0')
        upstream.write(chunk)
      })
      upstream.on('data', (chunk: Buffer) => {
        if (!isLosing) {
          client.write(chunk)
          return
        }
        lost += 1
        client.destroy()
      })
    },
  })
  const relayed = Object.assign(new URL(to), { hostname: '127.0.0.1', port: String(port), search: 'sslmode=disable' })
  return { url: relayed.href, lost: () => lost }
}

describe.skipIf(POSTGRES_URL === null)('the audit log on PostgreSQL', () => {
  test.each([false, true])(
    'writes an entry once when the answer to its commit is lost (emails in clear: %s)',
    async (areEmailsClear) => {
      const url = await temporaryDatabase()
      const relay = await startLosingRelay(url)
      await using store = await openPostgresStore(relay.url, OPTIONS)
      const failures: unknown[] = []
      const log = await openAuditLog(store, {
        retentionMs: Number.POSITIVE_INFINITY,
        areEmailsClear,
        clock: Date.now,
        onEntry() {},
        onFailure: (error) => failures.push(error),
      })
      log.record({ kind: 'logout', result: 'done', email: ANA })
      await log.flush()
      expect(relay.lost()).toBe(1)
      expect(failures).toHaveLength(1)
      await log[Symbol.asyncDispose]()
      expect(await execute(url, 'select kind, count from workspace_gateway.audit_entry')).toEqual([
        { kind: 'logout', count: 1 },
      ])
    },
  )
})
