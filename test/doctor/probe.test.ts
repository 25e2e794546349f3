// Tests the probe path, where the doctor asks the gateway what it sees of a request.
import { expect, test } from 'vitest'
import { PROBE_HEADER, PROBE_PATH } from '../../src/admin/probe.ts'
import { createKeyCipher } from '../../src/auth/tokens/key-cipher.ts'
import { issueProbeToken } from '../../src/auth/tokens/probe-token.ts'
import { createSigningKey, importSigningKey } from '../../src/auth/tokens/signing-key.ts'
import { type Answer, startGateway } from '../support/gateway.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

const CIPHER = createKeyCipher([])

test('the probe path shows a holder of the keys what the gateway sees, and is a 404 for others', async () => {
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  const [stored] = await gateway.store.signingKeys()
  if (!stored) throw new Error('the gateway has no key')
  const key = await importSigningKey(stored, CIPHER)
  const foreign = await importSigningKey(await createSigningKey('EdDSA', gateway.now(), CIPHER), CIPHER)
  const ask = (token?: string) =>
    gateway.send('GET', PROBE_PATH, undefined, token === undefined ? {} : { [PROBE_HEADER]: token })

  const token = await issueProbeToken(key, gateway.now())
  const seen = await ask(token)
  expect(seen.status).toBe(200)
  expect(JSON.parse(seen.text)).toMatchObject({
    client: { address: '127.0.0.1', scheme: 'http' },
  })

  const unknown = await gateway.send('GET', '/.well-known/nothing')
  const refused = [
    undefined,
    '',
    'x'.repeat(10_000),
    accessToken,
    await issueProbeToken(key, gateway.now() - 180_000),
    await issueProbeToken({ ...key, privateKey: foreign.privateKey }, gateway.now()),
    await issueProbeToken(foreign, gateway.now()),
    await issueProbeToken({ ...key, kid: foreign.kid }, gateway.now()),
    `${token.slice(0, -8)}AAAAAAAA`,
  ]
  for (const wrong of refused) {
    const answer = await ask(wrong)
    expect([answer.status, withoutId(answer)]).toEqual([404, withoutId(unknown)])
  }
  // The token is not an access token either.
  expect((await gateway.get('/projects', token)).status).toBe(401)
})

/** Removes the request id, which every problem document contains. */
function withoutId({ text }: Answer): object {
  const { requestId: _, ...rest } = JSON.parse(text) as Record<string, unknown>
  return rest
}
