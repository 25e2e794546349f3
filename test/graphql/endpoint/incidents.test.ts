// Each cause of an internal failure gets one id and one line in the log, however many fields fail because of it.
import { expect, test } from 'vitest'
import { guardsOf } from '../../../src/auth/guards/guards.ts'
import { GatewayError } from '../../../src/errors.ts'
import { createIncidents } from '../../../src/graphql/endpoint/incidents.ts'
import { StoreUnavailableError } from '../../../src/store/contract.ts'
import { startGateway } from '../../support/gateway.ts'
import { ANA, SMALL_WORLD } from '../../support/workspaces.ts'

test('errors of one response with the same kind and message are one incident, whatever wraps them', () => {
  const reported: unknown[] = []
  const incidentOf = createIncidents((error) => `urn:uuid:${reported.push(error)}`)
  const away = () => new StoreUnavailableError('the database is away')
  const [first, again, wrapped] = [away(), away(), new GatewayError('UNAVAILABLE', { cause: away() })].map(incidentOf)
  expect(first).toMatch(/^urn:uuid:/)
  expect([again, wrapped]).toEqual([first, first])
  const bug = new TypeError('the database is away')
  const other = new StoreUnavailableError('a lock was held for too long')
  const ids = [bug, other, 'a text', 'a text', null].map(incidentOf)
  expect(ids[2]).toBe(ids[3])
  expect(new Set([first, ...ids]).size).toBe(5)
  expect(reported).toEqual([away(), bug, other, 'a text', null])
})

test('an unavailable database fails ninety fields and is reported once, with the id of the request', async () => {
  const reported: unknown[][] = []
  const fails = () => {
    throw new StoreUnavailableError('the database is away')
  }
  const gateway = await startGateway({
    // A proxy sets the id of the request; the guard for one machine would not let it sign in.
    trustedProxies: ['127.0.0.1'],
    createGuard: guardsOf(['open'], { trustedOrigins: [] }),
    report: (...told) => `urn:uuid:${reported.push(told)}`,
    wrapStore: (store) => ({ ...store, projectsByRef: fails, latestExports: fails }),
  })
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  const fields = Array.from({ length: 45 }, (_, n) => {
    const ref = `(ref: "r${n}")`
    return `p${n}: project${ref} { name } e${n}: latestExport${ref} { digest }`
  })
  const answer = await gateway.graphql(`{ me { ${fields.join(' ')} } }`, {
    accessToken,
    headers: { 'x-request-id': 'of-the-proxy' },
  })
  const { data, errors } = answer.json()
  expect(Object.values(data.me)).toEqual(Array.from({ length: 90 }, () => null))
  expect(errors).toHaveLength(90)
  const [{ extensions }] = errors
  expect(extensions).toEqual({ code: 'UNAVAILABLE', retryAfterSeconds: 1, instance: 'urn:uuid:1' })
  for (const error of errors) expect(error.extensions).toEqual(extensions)
  expect(reported).toEqual([[expect.any(StoreUnavailableError), 'of-the-proxy']])
  expect(answer.text).not.toContain('database')
})
