// Tests what the first page sends for the GraphQL side of a route, without a browser.
import { expect, test } from 'vitest'
import { sendSide } from '../../src/explorer/rosetta/requests.ts'
import { fakeBrowser, started } from '../support/fake-browser.ts'

test('variables are sent as they were typed, also numbers that JavaScript cannot hold', async () => {
  const { session } = await started(fakeBrowser().open())
  const route = { method: 'GET', path: '/projects', summary: '', twin: '', parameter: null, field: null }
  const variables = '{ "first": 1e400, "after": 12345678901234567890 }'
  const request = { route, value: '', query: 'query($first: Int) { me { email } }', variables }
  const bodies: unknown[] = []
  const noting = {
    ...session,
    async send(_path: string, init: RequestInit = {}) {
      bodies.push(init.body)
      return Response.json({})
    },
  }
  await sendSide('graphql', request, noting, new AbortController().signal)
  expect(bodies).toEqual([`{"query":"query($first: Int) { me { email } }","variables":${variables}}`])
  const wrong = sendSide('graphql', { ...request, variables: '{"first":1}}' }, noting, new AbortController().signal)
  await expect(wrong).rejects.toThrow('not a JSON object')
})
