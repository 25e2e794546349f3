// Imports of a gateway that is told to stop: one that takes long to end, whose process a supervisor may kill before that,
// and one whose input is still arriving.
import { existsSync } from 'node:fs'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { AuditEvent } from '../src/auth/audit/audit-event.ts'
import type { GatewayRequest } from '../src/http/request.ts'
import type { ImportEvent } from '../src/import-export/run-import.ts'
import { createImportEndpoint, type Importer, type RunningImport } from '../src/rest/import-endpoint.ts'
import { importerOf } from './support/importing-gateway.ts'
import { DESCRIPTORS, openFiles } from './support/open-files.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'

test('a stopped import is recorded as broken off before it has ended, and only once', async () => {
  const ended = Promise.withResolvers<ImportEvent>()
  const importing: RunningImport = {
    ended: ended.promise,
    async *[Symbol.asyncIterator]() {},
    async [Symbol.asyncDispose]() {},
  }
  const importer: Importer = {
    run: async () => importing,
    async stop() {
      await ended.promise
    },
  }
  const recorded: Partial<AuditEvent>[] = []
  const audit = { record: (event: Partial<AuditEvent>) => void recorded.push(event) }
  const running = new AsyncDisposableStack()
  const endpoint = createImportEndpoint(importer, async () => 'tester', { audit, running })
  await endpoint.handle({ search: '', client: { address: '127.0.0.1' } } as unknown as GatewayRequest)
  const stopped = running.disposeAsync()
  await expect.poll(() => recorded).toMatchObject([{ result: 'failed', detail: 'by tester: broken off' }])
  ended.resolve({ type: 'progress', phase: 'importing', bytes: 1, records: 1 } as ImportEvent)
  await stopped
  expect(recorded).toHaveLength(1)
})

test.skipIf(!existsSync(DESCRIPTORS))(
  'an input that arrives while the gateway stops is refused and closed',
  async () => {
    const folder = temporaryDirectory()
    vi.stubEnv('TMPDIR', folder)
    onTestFinished(() => void vi.unstubAllEnvs())
    const openInputs = () => openFiles().filter((name) => name.startsWith(folder))
    const importer = importerOf('file:never-opened.db')
    async function* input() {
      yield Buffer.from('{"kind":"user","email":"ana@example.com"}\n')
      expect(openInputs()).toHaveLength(1)
      await importer.stop()
    }
    const options = { isReplacement: false, isDryRun: false, isVerbose: false, fields: {} }
    await expect(importer.run(input, options)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(openInputs()).toEqual([])
  },
)
