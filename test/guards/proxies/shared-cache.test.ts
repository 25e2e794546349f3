// A proxy whose cache an operator switched on, without a look at Authorization, keeps no answer of a user. Only nginx is
// like that: HAProxy and Apache keep no answer to a request that has the header.
import { expect, test } from 'vitest'
import { guardsOf } from '../../../src/auth/guards/guards.ts'
import { freePort } from '../../support/free-port.ts'
import { ask, bearer, openSession, startGateway } from '../../support/gateway.ts'
import { isInstalled, startProxy } from '../../support/proxy-process.ts'
import { ANA, BEN, documentLine, SMALL_WORLD } from '../../support/workspaces.ts'
import { nginxFrame } from './configurations.ts'

/** Keeps for ten minutes whatever an answer does not forbid to keep. */
const cacheOf = (port: number, gateway: string) =>
  nginxFrame(
    `proxy_cache_path DIRECTORY/cache keys_zone=all:1m; server { listen 127.0.0.1:${port}; location / { proxy_pass ${gateway}; proxy_cache all; proxy_cache_valid any 10m; } }`,
  )

test.runIf(isInstalled('nginx'))("the cache of a proxy shows nobody what is another's or no longer true", async () => {
  const gateway = await startGateway({ createGuard: guardsOf(['open'], { trustedOrigins: [] }) })
  await gateway.load(SMALL_WORLD)
  const port = await freePort('127.0.0.1')
  const files = [{ name: 'proxy.conf', text: cacheOf(port, gateway.url) }]
  await startProxy({ program: 'nginx', files, ports: [port] })
  const url = `http://127.0.0.1:${port}`
  const ana = await openSession(url, ANA)
  const alsoAna = await openSession(url, ANA)
  const ben = await openSession(url, BEN)
  const namesOf = async (accessToken?: string) => {
    const answer = await ask(`${url}/projects`, { headers: bearer(accessToken) })
    return answer.status === 200 ? answer.json().map(({ name }: { name: string }) => name) : answer.status
  }
  for (const time of ['first', 'again']) {
    expect(await namesOf(ana.accessToken), time).toEqual(['Site', 'App'])
    expect(await namesOf(ben.accessToken), time).toEqual(['Secret of ben'])
    expect(await namesOf(), time).toBe(401)
  }
  await gateway.load(documentLine('project', ANA, '{"id":"p3","name":"New"}'))
  expect(await namesOf(ana.accessToken)).toEqual(['Site', 'App', 'New'])
  const body = JSON.stringify({ refreshToken: ana.refreshToken })
  expect((await ask(`${url}/logout`, { method: 'DELETE', body })).status).toBe(200)
  expect(await namesOf(ana.accessToken)).toBe(401)
  expect(await namesOf(alsoAna.accessToken)).toEqual(['Site', 'App', 'New'])
})
