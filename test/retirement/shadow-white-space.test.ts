// Tests an old server that writes white space between documents, as many do: neither an import nor the shadow minds it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runHere, serveForTest } from '../support/command-line.ts'
import { ask, bearer, openSession } from '../support/gateway.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, documentLine } from '../support/workspaces.ts'

/** As Python, ASP.NET, PHP and Go write them. */
const SPACED: Readonly<Record<string, string>> = {
  '/projects': '[{"id": "a", "ref": "site"}, {"id": "b", "ref": "b"}]',
  '/templates': '\ufeff[\r\n  {\r\n    "id": "t",\r\n    "text": "\\" [ ,  \\\\"\r\n  }\r\n]\r\n',
  '/ui-libraries': '[ ]',
  '/exports?r=site': '[1, "a b", [], {"c": [1,\t2]}]\n',
}

function answersWith(texts: Readonly<Record<string, string>>) {
  return ({ url = '', headers }: IncomingMessage, response: ServerResponse): boolean => {
    const text = texts[url]
    if (text === undefined || headers.authorization === undefined) return false
    response.writeHead(200, { 'content-type': 'application/json' })
    for (const byte of Buffer.from(text)) response.write(Buffer.of(byte))
    response.end()
    return true
  }
}

test('white space between documents is no difference, but white space within a document is', async () => {
  await using old = await startPlainServer({ records: documentLine('template', ANA, '{"id":"t"}') })
  old.setIntercept(answersWith(SPACED))
  const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
  const imported = await runHere(['import', old.url, '--email', ANA, '--database', database, '--verify'])
  expect(imported).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('the same on both sides') })
  const gateway = await serveForTest(['--database', database, '--shadow', old.url, '--shadow-confirm', '0'])
  const { accessToken } = await openSession(gateway.url, ANA)
  const asked = () => old.requests.filter(({ path }) => path in SPACED).length
  const before = asked()
  async function readAll(): Promise<void> {
    for (const path of Object.keys(SPACED)) {
      expect((await ask(`${gateway.url}${path}`, { headers: bearer(accessToken) })).status).toBe(200)
    }
  }
  await readAll()
  await expect.poll(asked).toBe(before + 4)
  old.setIntercept(answersWith({ ...SPACED, '/projects': '[{"id": "a", "ref": "site"}, {"id": "b",  "ref": "b"}]' }))
  await readAll()
  await expect.poll(asked).toBe(before + 8)
  expect(await gateway.kill('SIGTERM')).toBe(0)
  const told = gateway
    .stderr()
    .split('\n')
    .filter((line) => line.includes('answers differently'))
    .map((line) => JSON.parse(line).shadow)
  const at = '[{"id": "a", "ref": "site"},{"id": "b", '.length
  expect(told).toEqual([expect.objectContaining({ route: 'GET /projects', at })])
  expect(gateway.stderr()).toContain('"shadow":{"equal":7,"cut":0,"different":1,')
})
