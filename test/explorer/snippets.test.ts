// What the first page offers to copy: that it runs as it stands, and says what it should.
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { compare } from '../../src/explorer/rosetta/comparison.ts'
import { graphqlCurl, restCurl } from '../../src/explorer/rosetta/snippets.ts'
import { EXPLORER_ROUTES } from '../../src/pages/explorer-endpoint.ts'
import { serveForTest } from '../support/command-line.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const hasShell = ['curl', 'sed', 'sh'].every((program) => spawnSync(program, ['--help']).error === undefined)
if (!hasShell) console.warn('skipped: running what is copied needs curl, sed and sh')

test.skipIf(!hasShell)('every curl that can be copied runs in a shell, and agrees with its twin', async () => {
  const { url } = await serveForTest([], { cwd: temporaryDirectory() })
  const context = { url, email: 'demo@example.com' }
  for (const route of EXPLORER_ROUTES) {
    const value = route.parameter === null ? context.email : "it's'; echo $HOME"
    const rest = shell(restCurl({ route, value }, context))
    const name = route.field ?? route.parameter
    if (route.field === 'refreshToken') {
      expect(rest, route.path).toMatch(/^\{("accessToken":"eyJ[^"]+")?\}$/)
      continue
    }
    const graphql = shell(graphqlCurl(route.twin, name === null ? {} : { [name]: value }, context))
    const [left, right] = [rest, graphql].map((text) => ({ status: 200, durationMs: 0, byteLength: 0, text }))
    if (!left || !right) throw new Error('no answers')
    expect(compare(left, right), `${rest} ${graphql}`).toMatchObject({ isSame: true })
  }
  const exports = EXPLORER_ROUTES.find(({ parameter }) => parameter !== null) ?? EXPLORER_ROUTES[0]
  if (exports) expect(shell(restCurl({ route: exports, value: 'roastery-site' }, context))).toContain('globals.css')
})

test('answers that differ are told apart, to the byte', () => {
  const verdict = (rest: string, graphql: string) => {
    const [left, right] = [rest, graphql].map((text) => ({ status: 200, durationMs: 0, byteLength: 0, text }))
    if (!left || !right) throw new Error('no answers')
    return compare(left, right)
  }
  const twin = (documents: string) => `{"data":{"me":{"projects":[${documents}]}}}`
  expect(
    verdict('[1.0,{"n":12345678901234567890}]', twin('{"data":1.0},{"data":{"n":12345678901234567890}}')).isSame,
  ).toBe(true)
  expect(verdict('[1.0]', twin('{"data":1}'))).toEqual({ isSame: false, text: 'Document 1 differs.' })
  expect(verdict('[12345678901234567890]', twin('{"data":12345678901234567891}')).isSame).toBe(false)
  expect(verdict('[1]', twin('{"data":1},{"data":2}')).text).toBe('REST holds 1 document, GraphQL 2.')
  expect(verdict('[1]', twin('{"name":"no data"}')).text).toContain('selects no `data`')
  expect(verdict('[]', twin(''))).toMatchObject({ isSame: true })
  expect(verdict('not json', 'not json either').isSame).toBe(false)
})

function shell(command: string): string {
  return spawnSync('sh', ['-c', command], { encoding: 'utf8' }).stdout
}
