// Imports and serves whole workspaces: the demo workspace, and a file of your own:
// TEST_WORKSPACES=path/to/workspaces.ndjson npm test
import { copyFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { runHere, serveForTest, serveHereForTest } from './support/command-line.ts'
import { ask, bearer, openSession } from './support/gateway.ts'
import { newestExports, readImportFile } from './support/import-file.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'

const DEMO = fileURLToPath(new URL('../src/cli/demo/demo-workspace.ndjson', import.meta.url))
const OWN = process.env.TEST_WORKSPACES

const JSON_BODY = { 'content-type': 'application/json' }

describe.each(OWN ? [DEMO, resolve(OWN)] : [DEMO])('%s', (source) => {
  async function serveImported(serve: typeof serveHereForTest | typeof serveForTest = serveHereForTest) {
    const directory = temporaryDirectory()
    const file = join(directory, 'workspaces.ndjson')
    copyFileSync(source, file)
    const database = `file:${join(directory, 'workspace.db')}`
    const imported = await runHere(['import', file, '--database', database])
    expect([imported.exitCode, imported.stderr]).toEqual([0, ''])
    const { url } = await serve(['--database', database])
    return { database, file, url }
  }

  async function headersOf(url: string, email: string): Promise<Record<string, string>> {
    return { ...JSON_BODY, ...bearer((await openSession(url, email)).accessToken) }
  }

  test('every user reads the bytes of the file, over REST and through the GraphQL twins', async () => {
    const { url } = await serveImported()
    for (const [email, user] of readImportFile(source)) {
      const headers = await headersOf(url, email)
      const twin = async (query: string, variables = {}) =>
        (await ask(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query, variables }) })).text
      for (const [path, field, texts] of [
        ['/projects', 'projects', user.project],
        ['/templates', 'templates', user.template],
        ['/ui-libraries', 'uiLibraries', user.uiLibrary],
      ] as const) {
        expect((await ask(`${url}${path}`, { headers })).text === `[${texts.join(',')}]`, `${email} ${path}`).toBe(true)
        const items = texts.map((text) => `{"data":${text}}`).join(',')
        expect((await twin(`{ me { ${field} { data } } }`)) === `{"data":{"me":{"${field}":[${items}]}}}`).toBe(true)
      }
      const newest = newestExports(user)
      for (const [r, { data }] of newest) {
        const rest = await ask(`${url}/exports?r=${encodeURIComponent(r)}`, { headers })
        expect(rest.text === data, `${email} export of ${r}`).toBe(true)
        const graphql = await twin('query($r: String!) { me { latestExport(ref: $r) { data } } }', { r })
        expect(graphql === `{"data":{"me":{"latestExport":{"data":${data}}}}}`).toBe(true)
      }
    }
  })

  test('typed GraphQL fields agree with the documents', async () => {
    const { url } = await serveImported()
    const projectFields = ['id', 'ref', 'name', 'description', 'framework', 'tags', 'version', 'createdAt', 'updatedAt']
    const itemFields = [
      'id',
      'name',
      'description',
      'framework',
      'kind',
      'type',
      'tags',
      'version',
      'createdAt',
      'updatedAt',
    ]
    /** GraphQL calls the id of a document `documentId`. */
    const toSelection = (fields: readonly string[]) => fields.join(' ').replace(/^id\b/, 'id: documentId')
    const elementFields = ['id', 'name', 'kind', 'type', 'path', 'content']
    for (const [email, user] of readImportFile(source)) {
      const query = `{ me { email
        projects { ${toSelection(projectFields)} latestExport { createdAt byteLength elementCount elements { ${toSelection(elementFields)} } } exports { createdAt } }
        templates { ${toSelection(itemFields)} } uiLibraries { ${toSelection(itemFields)} } } }`
      const headers = await headersOf(url, email)
      const answer = await ask(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) })
      const { data, errors } = answer.json()
      expect(errors).toBeUndefined()
      const newest = newestExports(user)
      const pick = (text: string, fields: readonly string[]) => {
        const document = JSON.parse(text)
        return Object.fromEntries(fields.map((field) => [field, document[field] ?? null]))
      }
      expect(data.me.templates).toEqual(user.template.map((text) => pick(text, itemFields)))
      expect(data.me.uiLibraries).toEqual(user.uiLibrary.map((text) => pick(text, itemFields)))
      expect(data.me.projects).toEqual(
        user.project.map((text) => {
          const { ref } = JSON.parse(text)
          const one = newest.get(ref)
          const elements: unknown[] = one ? JSON.parse(one.data) : []
          return {
            ...pick(text, projectFields),
            latestExport: one
              ? {
                  createdAt: one.createdAt,
                  byteLength: Buffer.byteLength(one.data),
                  elementCount: elements.length,
                  elements: elements.map((element) => pick(JSON.stringify(element), elementFields)),
                }
              : null,
            exports: user.exports
              .filter(({ r }) => r === ref)
              .map(({ createdAt }) => ({ createdAt }))
              .toSorted((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt)),
          }
        }),
      )
    }
  })

  test('dump prints the lines of the file; the file imports again without a change, and the dump into an equal copy', async () => {
    // The commands read and write the file of a gateway in another process.
    const { database, file } = await serveImported(serveForTest)
    const dumped = await runHere(['dump', '--database', database])
    expect(dumped.exitCode).toBe(0)
    expect(sortedLines(dumped.stdout)).toEqual(sortedLines(await readText(source)))
    const again = await runHere(['import', file, '--database', database])
    expect(again.stdout).toContain('0 added, 0 replaced')
    const copy = `file:${join(temporaryDirectory(), 'copy.db')}`
    expect((await runHere(['import', '-', '--database', copy], { stdin: dumped.stdout })).exitCode).toBe(0)
    expect((await runHere(['dump', '--database', copy])).stdout === dumped.stdout).toBe(true)
  })
})

async function readText(path: string): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  return readFile(path, 'utf8')
}

function sortedLines(text: string): string[] {
  return text.split('\n').filter(Boolean).toSorted()
}
