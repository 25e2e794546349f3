// Tests that invented client names in the ledger leave room for the names of admitted clients.
import { expect, test } from 'vitest'
import type { GatewayRequest } from '../../src/http/request.ts'
import { createClientNames } from '../../src/rest/ledger/client-name.ts'
import { createNamedClients } from '../../src/rest/ledger/named-clients.ts'

const DAY = '2026-01-01'

function requestOf(agent: string, record: { readonly status: number; readonly failureCode?: string }): GatewayRequest {
  const header = (name: string) => (name === 'user-agent' ? agent : undefined)
  return { header, record: { viewer: null, failureCode: null, ...record } } as unknown as GatewayRequest
}

const RETIRED = { status: 410, failureCode: 'ROUTE_RETIRED' }

test('a retired route gets a limited number of unknown names a day, and every name of an admitted client', () => {
  const nameOf = createNamedClients(createClientNames())
  expect(nameOf(requestOf('shop/1', { status: 200 }), DAY)).toBe('shop')
  const names = Array.from({ length: 500 }, (_, at) => nameOf(requestOf(`x${at}`, RETIRED), DAY))
  expect(new Set(names).size).toBe(51)
  expect(names.slice(0, 2)).toEqual(['x0', 'x1'])
  expect(names.at(-1)).toBe('(refused)')
  for (const agent of ['shop/2', 'x0', 'x49']) expect(nameOf(requestOf(agent, RETIRED), DAY)).not.toBe('(refused)')
  expect(nameOf(requestOf('late', RETIRED), DAY)).toBe('(refused)')
  expect(nameOf(requestOf('late', RETIRED), '2026-01-02')).toBe('late')
  expect(nameOf(requestOf('shop', { status: 401, failureCode: 'INVALID_TOKEN' }), DAY)).toBe('(refused)')
})

test('a process that has seen many clients still learns new names', () => {
  const nameOf = createNamedClients(createClientNames())
  for (let at = 0; at < 500; at += 1) nameOf(requestOf(`former${at}`, { status: 200 }), '2025-01-01')
  nameOf(requestOf('shop', { status: 200 }), DAY)
  for (let at = 0; at < 50; at += 1) nameOf(requestOf(`x${at}`, RETIRED), DAY)
  expect(nameOf(requestOf('x50', RETIRED), DAY)).toBe('(refused)')
  expect(nameOf(requestOf('shop', RETIRED), DAY)).toBe('shop')
})

test('a client that only calls a retired route remains known, however many others come', () => {
  const nameOf = createNamedClients(createClientNames())
  nameOf(requestOf('shop', { status: 200 }), DAY)
  for (let at = 0; at < 50; at += 1) nameOf(requestOf(`x${at}`, RETIRED), DAY)
  for (let at = 0; at < 1_000; at += 1) {
    nameOf(requestOf(`other${at}`, { status: 200 }), DAY)
    expect(nameOf(requestOf('shop', RETIRED), DAY)).toBe('shop')
  }
})
