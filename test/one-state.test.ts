// An answer shows one state of a workspace, however many reads it takes and whatever is written between them.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createInFlightBytes } from '../src/http/limits/in-flight-bytes.ts'
import { StoreUnavailableError } from '../src/store/contract.ts'
import type { EditableStore } from '../src/store/workspace-edits.ts'
import type { TestGateway } from './support/gateway.ts'
import { interruptedGateway } from './support/interrupted-gateway.ts'
import { createdDatabases, POSTGRES_URL } from './support/postgres.ts'
import { ANA, BEN, documentLine, exportLine } from './support/workspaces.ts'

/** So many projects that a list of them is read in five or more parts. */
const LONG = 40
const project = (id: number, version: number, text: string) =>
  `{"id":${id},"ref":"r${id}","v":${version},"t":"${text}"}`
const projects = (version: number, length = LONG, text = 'x'.repeat(15_000)) =>
  Array.from({ length }, (_, id) => project(id, version, text))
const lines = (documents: readonly string[]) => documents.map((data) => documentLine('project', ANA, data)).join('')

describe('on SQLite', () => describeAnswers(async () => undefined))

describe.skipIf(POSTGRES_URL === null)('on PostgreSQL', () => describeAnswers(createdDatabases()))

function describeAnswers(databaseUrl: () => Promise<string | undefined>): void {
  const open = async (options: Parameters<typeof interruptedGateway>[0] = {}) => {
    const url = await databaseUrl()
    return interruptedGateway(url === undefined ? options : { ...options, databaseUrl: url })
  }

  const removeAna = (gateway: TestGateway) => gateway.load(`{"kind":"user","email":"${ANA}","removed":true}\n`)

  const lists = {
    async REST(gateway: TestGateway, accessToken: string) {
      const { text, headers } = await gateway.get('/projects', accessToken)
      expect(headers.get('etag')).toContain(createHash('sha256').update(text).digest('base64url').slice(0, 10))
      return text
    },
    async 'a GraphQL list'(gateway: TestGateway, accessToken: string) {
      const { text } = await gateway.graphql('{ me { projects { data } } }', { accessToken })
      return `[${[...text.matchAll(/\{"data":(\{"id.*?"\})\}/g)].map(([, data]) => data).join(',')}]`
    },
    async 'a GraphQL connection'(gateway: TestGateway, accessToken: string) {
      const { text } = await gateway.graphql('{ me { projectsConnection { nodes { data } } } }', { accessToken })
      return `[${[...text.matchAll(/\{"data":(\{"id.*?"\})\}/g)].map(([, data]) => data).join(',')}]`
    },
  }

  test.each(Object.keys(lists) as (keyof typeof lists)[])(
    '%s answers only the new state when the list is written to between two of its parts',
    async (kind) => {
      const { gateway, beforeNext, snapshots } = await open()
      await gateway.load(lines(projects(1)))
      const { accessToken } = await gateway.login(ANA)
      for (const [version, later] of [
        [2, 1],
        [3, 3],
      ] as const) {
        beforeNext('documentsWithin', () => gateway.load(lines(projects(version))), later)
        expect(await lists[kind](gateway, accessToken)).toBe(`[${projects(version).join(',')}]`)
      }
      expect(snapshots()).toBe(2)
      // No mixture of states was cached either.
      expect(await lists[kind](gateway, accessToken)).toBe(`[${projects(3).join(',')}]`)
      expect(snapshots()).toBe(2)
    },
  )

  test('a second attempt uses the memory of the first one', async () => {
    const { gateway, beforeNext, snapshots } = await open({ inFlight: createInFlightBytes(1_000_000) })
    await gateway.load(lines(projects(1)))
    const { accessToken } = await gateway.login(ANA)
    for (const kind of ['REST', 'a GraphQL list'] as const) {
      beforeNext('documentsWithin', () => gateway.load(lines(projects(2))), 4)
      expect(await lists[kind](gateway, accessToken), kind).toBe(`[${projects(2).join(',')}]`)
      await gateway.load(lines(projects(1)))
    }
    expect(snapshots()).toBe(2)
  })

  test('a first attempt that fails because it read a mixture of states is followed by a second one', async () => {
    // A list with one long half fits into the memory; the mixture has two long halves, which do not fit.
    const { gateway, beforeNext, snapshots } = await open({ inFlight: createInFlightBytes(600_000) })
    const halves = [projects(1).slice(0, LONG / 2), projects(1).slice(LONG / 2)] as const
    const others = [projects(2, LONG, '').slice(0, LONG / 2), projects(2, LONG, '').slice(LONG / 2)] as const
    await gateway.load(lines([...halves[0], ...others[1]]))
    const { accessToken } = await gateway.login(ANA)
    const after = [...others[0], ...halves[1]]
    beforeNext('documentsWithin', () => gateway.load(lines(after)), 2)
    expect(await lists.REST(gateway, accessToken)).toBe(`[${after.join(',')}]`)
    expect(snapshots()).toBe(1)
  })

  test('a list that is written to before its first part is read needs no second attempt', async () => {
    const { gateway, beforeNext, snapshots } = await open()
    await gateway.load(lines(projects(1)))
    const { accessToken } = await gateway.login(ANA)
    beforeNext('documentsWithin', () => gateway.load(lines(projects(2))))
    expect(await lists.REST(gateway, accessToken)).toBe(`[${projects(2).join(',')}]`)
    expect(snapshots()).toBe(0)
  })

  test('a GraphQL answer counts what it lists, and streams an export whose reference changes meanwhile', async () => {
    const { gateway, beforeNext, snapshots } = await open()
    const elements = Array.from({ length: 30 }, (_, index) => `"${index} ${'y'.repeat(60_000)}"`)
    await gateway.load(
      lines(projects(1, 1, '')) + exportLine(ANA, { r: 'r0', createdAt: '2026-01-01T00:00:00Z', elements }),
    )
    const { accessToken } = await gateway.login(ANA)
    beforeNext('documentCounts', () => gateway.load(lines(projects(2, 3, ''))))
    // While the export is sent, it still exists, but under another reference.
    const renamed = projects(3, 3, '').map((text) => text.replace('"r0"', '"s0"'))
    beforeNext('elementRunsOf', () => gateway.load(lines(renamed)), 3)
    const answer = await gateway.graphql(
      '{ me { projects { data } projectsConnection { totalCount } latestExport(ref: "r0") { data } } }',
      { accessToken },
    )
    const documents = projects(2, 3, '').map((data) => `{"data":${data}}`)
    expect(answer.text).toBe(
      `{"data":{"me":{"projects":[${documents.join(',')}],"projectsConnection":{"totalCount":3},"latestExport":{"data":[${elements.join(',')}]}}}}`,
    )
    expect(snapshots()).toBe(1)
  })

  test('when an export is replaced between finding and reading it, the new one is answered', async () => {
    const at = (day: number, elements: readonly string[]) =>
      exportLine(ANA, { r: 'r0', createdAt: `2026-01-0${day}T00:00:00Z`, elements })
    const removal = `{"kind":"export","email":"${ANA}","r":"r0","createdAt":"2026-01-01T00:00:00Z","removed":true}\n`
    const { gateway, beforeNext, snapshots } = await open()
    await gateway.load(lines(projects(1, 1, '')) + at(1, ['1']))
    const { accessToken } = await gateway.login(ANA)
    beforeNext('elementRunsOf', () => gateway.load(removal + at(2, ['2'])))
    const answer = await gateway.get('/exports?r=r0', accessToken)
    expect([answer.status, answer.text]).toEqual([200, '[2]'])
    const { text, headers } = await gateway.get('/exports?r=r0', accessToken)
    expect([text, headers.get('etag')]).toEqual(['[2]', answer.headers.get('etag')])
    expect(snapshots()).toBe(0)
  })

  test('an export that is removed while a snapshot of it is read is still answered', async () => {
    const { gateway, beforeNext, snapshots } = await open({
      async openSnapshot(store, options) {
        const snapshot = await store.openSnapshot(options)
        await gateway.load(`{"kind":"project","email":"${ANA}","id":"0","removed":true}\n`)
        return snapshot
      },
    })
    await gateway.load(
      lines(projects(1, 1, '')) + exportLine(ANA, { r: 'r0', createdAt: '2026-01-01T00:00:00Z', elements: ['7'] }),
    )
    const { accessToken } = await gateway.login(ANA)
    // The exports are looked up once the projects have been read.
    beforeNext('latestExports', () => gateway.load(lines(projects(2, 2, ''))))
    const query = '{ me { projectsConnection { totalCount } projects { latestExport { data } } } }'
    const { data } = (await gateway.graphql(query, { accessToken })).json()
    expect(data.me).toEqual({
      projectsConnection: { totalCount: 2 },
      projects: [{ latestExport: { data: [7] } }, { latestExport: null }],
    })
    expect(snapshots()).toBe(1)
  })

  test('a user who is removed between two reads is answered INVALID_TOKEN, not an empty workspace', async () => {
    for (const later of [0, 2]) {
      const { gateway, beforeNext } = await open()
      await gateway.load(lines(projects(1)))
      const { accessToken } = await gateway.login(ANA)
      beforeNext('documentsWithin', () => removeAna(gateway), later)
      const answer = await gateway.get('/projects', accessToken)
      expect([answer.status, answer.json().code], `${later} parts later`).toEqual([401, 'INVALID_TOKEN'])
    }
    const { gateway, beforeNext } = await open()
    await gateway.load(lines(projects(1)))
    const { accessToken } = await gateway.login(ANA)
    beforeNext('documentsWithin', () => removeAna(gateway), 1)
    const answer = (await gateway.graphql('{ me { projects { data } } }', { accessToken })).json()
    expect([answer.data, answer.errors[0].extensions.code]).toEqual([undefined, 'INVALID_TOKEN'])
  })

  test('a user who is removed before an export is read is answered INVALID_TOKEN, not that the project is missing', async () => {
    const { gateway, beforeNext } = await open()
    await gateway.load(lines(projects(1, 1)))
    const { accessToken } = await gateway.login(ANA)
    beforeNext('latestExports', () => removeAna(gateway))
    const answer = await gateway.get('/exports?r=r0', accessToken)
    expect([answer.status, answer.json().code]).toEqual([401, 'INVALID_TOKEN'])
  })

  test('a user who is renamed before the first read is not answered under the old email', async () => {
    const asked = {
      GraphQL: (gateway: TestGateway, accessToken: string) =>
        gateway.graphql('{ me { email projects { id data } } }', { accessToken }),
      REST: (gateway: TestGateway, accessToken: string) => gateway.get('/projects', accessToken),
    }
    for (const [protocol, ask] of Object.entries(asked)) {
      const { gateway, beforeNext } = await open()
      await gateway.load(lines(projects(1, 1, '')))
      const { accessToken } = await gateway.login(ANA)
      beforeNext('documentsWithin', async () => {
        // The store of a gateway also has the methods with which commands edit.
        await (gateway.store as EditableStore).renameUser(ANA, BEN)
        await gateway.load(documentLine('project', BEN, project(0, 2, '')))
      })
      const answer = await ask(gateway, accessToken)
      expect([answer.status, answer.text], protocol).toEqual([401, expect.stringContaining('INVALID_TOKEN')])
    }
  })

  test('when no snapshot can be opened, the client is told to retry, and the next request succeeds', async () => {
    const openSnapshot = async () => {
      throw new StoreUnavailableError('no room for one more connection')
    }
    const { gateway, beforeNext } = await open({ openSnapshot })
    await gateway.load(lines(projects(1)))
    const { accessToken } = await gateway.login(ANA)
    beforeNext('documentsWithin', () => gateway.load(lines(projects(2))), 1)
    const answer = await gateway.get('/projects', accessToken)
    expect([answer.status, answer.json().code]).toEqual([503, 'UNAVAILABLE'])
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await lists.REST(gateway, accessToken)).toBe(`[${projects(2).join(',')}]`)
  })
}
