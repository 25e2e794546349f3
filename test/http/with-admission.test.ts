// When an endpoint handles a request: at once, in its turn, or not at all; and whose turn it is.
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import type { Endpoint } from '../../src/http/handler.ts'
import type { Admission } from '../../src/http/limits/admission.ts'
import type { Owner } from '../../src/http/limits/fair-line.ts'
import { createOwnerOf } from '../../src/http/limits/request-owner.ts'
import { createTakeTurn } from '../../src/http/limits/take-turn.ts'
import { withAdmission } from '../../src/http/limits/with-admission.ts'
import type { GatewayRequest } from '../../src/http/request.ts'
import type { GatewayResponse } from '../../src/http/response.ts'

const answer = (body: string): GatewayResponse => ({ status: 200, headers: {}, body })
const requestOf = (authorization?: string, address = '192.0.2.1') =>
  ({
    isFirstOfConnection: true,
    header: (name: string) => (name === 'authorization' ? authorization : undefined),
    client: { address, scheme: 'http', host: '' },
  }) as unknown as GatewayRequest

/** An admission whose places are free or not, with this outcome of waiting; records who waits. */
function admissionOf(isFree: boolean, mayBegin: boolean) {
  const waited: Owner[] = []
  const firsts: boolean[] = []
  const turn = { number: 1 }
  const admission: Admission = {
    isQueueOfFew: () => false,
    turn: () => turn.number,
    tryBegin({ isFirstOfConnection }) {
      firsts.push(isFirstOfConnection)
      return isFree
    },
    async wait(owner) {
      waited.push(owner)
      return mayBegin ? 'begins' : 'refused'
    },
  }
  return { admission, waited, firsts, turn }
}

/** Knows two tokens of one user. */
const ownerOf = createOwnerOf({ emailOf: (token) => (/^known/.test(token) ? 'ana@example.com' : null) })
const plain: Endpoint = { method: 'GET', path: '/', handle: async () => answer('handled') }
const refusing: Endpoint = { ...plain, refuse: ({ code }) => answer(code) }

test('a request is handled at once if a place is free, and nobody waits', async () => {
  const { admission, waited, firsts } = admissionOf(true, false)
  expect(await withAdmission(plain, admission, ownerOf).handle(requestOf('Bearer a'))).toEqual(answer('handled'))
  expect([waited, firsts]).toEqual([[], [true]])
})

test('a request that waits is handled in the turn of its user, or of its network if the token is unknown', async () => {
  const { admission, waited } = admissionOf(false, true)
  const { handle } = withAdmission(plain, admission, ownerOf)
  expect(await handle(requestOf('Bearer known-1'))).toEqual(answer('handled'))
  for (const authorization of ['Bearer known-2', 'Bearer made-up', 'Bearer made-up-too', undefined]) {
    await handle(requestOf(authorization))
  }
  await handle(requestOf('Bearer made-up', '2001:db8::1'))
  await handle(requestOf(undefined, '2001:db8::2'))
  const user = { name: 'ana@example.com', isKnown: true }
  const [address, network] = ['192.0.2.1', '2001:db8:0:0::/64'].map((name) => ({ name, isKnown: false }))
  expect(waited).toEqual([user, user, address, address, address, network, network])
})

test('a read gives up its place when its client leaves; a request that may change something does not', async () => {
  const { admission } = admissionOf(false, true)
  const leaving: Admission = {
    ...admission,
    async wait(_owner, _arrival, onLeave) {
      let cameTo: 'begins' | 'left' = 'begins'
      onLeave?.(() => {
        cameTo = 'left'
      })
      return cameTo
    },
  }
  const { handle } = withAdmission(plain, leaving, ownerOf)
  for (const [method, cameTo] of Object.entries({ GET: 'BAD_REQUEST', HEAD: 'BAD_REQUEST', POST: 'handled' })) {
    const request: GatewayRequest = { ...requestOf(), method, onClosed: (leave) => leave() }
    expect(
      await handle(request).then(
        ({ body }) => body,
        ({ code }) => code,
      ),
    ).toBe(cameTo)
  }
})

test('a refused request is UNAVAILABLE for a second, in the endpoint’s own words if it has any', async () => {
  const { admission } = admissionOf(false, false)
  expect(await withAdmission(refusing, admission, ownerOf).handle(requestOf())).toEqual(answer('UNAVAILABLE'))
  const refused = (async () => withAdmission(plain, admission, ownerOf).handle(requestOf()))()
  await expect(refused).rejects.toBeInstanceOf(GatewayError)
  await expect(refused).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 1 })
})

describe('a body', () => {
  const reading: Endpoint = {
    ...plain,
    method: 'POST',
    handle: async ({ body }) => answer(Buffer.from(await body()).toString()),
  }

  /** The body arrives when it is asked for, in this turn or a later one, and contains the limit that was asked for. */
  function postOf(turn: { number: number }, turns: number): GatewayRequest {
    const body = async (limitBytes?: number) => {
      turn.number += turns
      return Buffer.from(`${limitBytes ?? 'of any length'}`)
    }
    return { ...requestOf(), method: 'POST', isFirstOfConnection: false, body }
  }

  test('is handled at once if it arrives with its head', async () => {
    const { admission, waited, firsts, turn } = admissionOf(true, false)
    expect(await withAdmission(reading, admission, ownerOf).handle(postOf(turn, 0))).toEqual(answer('of any length'))
    expect([waited, firsts]).toEqual([[], [false]])
  })

  test('is handled at once if it arrives later and a place is free', async () => {
    const { admission, waited, firsts, turn } = admissionOf(true, false)
    expect(await withAdmission(reading, admission, ownerOf).handle(postOf(turn, 1))).toEqual(answer('of any length'))
    expect([waited, firsts]).toEqual([[], [false, false]])
  })

  test('waits for its turn if it arrives later', async () => {
    const { admission, waited, turn } = admissionOf(false, true)
    expect(await withAdmission(reading, admission, ownerOf).handle(postOf(turn, 1))).toEqual(answer('of any length'))
    expect(waited).toHaveLength(2)
  })

  test('is received while its request waits, and is held until the request has its turn', async () => {
    const { admission } = admissionOf(false, true)
    const { promise: waiting, resolve: decide } = Promise.withResolvers<'begins'>()
    const asked: unknown[] = []
    const request: GatewayRequest = {
      ...requestOf(),
      method: 'POST',
      async body(...[limitBytes, heldUntil]) {
        asked.push(limitBytes, heldUntil === waiting)
        return Buffer.from('received')
      },
    }
    const limited = { ...reading, bodyLimitBytes: 9 }
    const answering = withAdmission(limited, { ...admission, wait: () => waiting }, ownerOf).handle(request)
    expect(asked).toEqual([9, true])
    decide('begins')
    expect(await answering).toEqual(answer('received'))
    expect(asked).toHaveLength(2)
  })

  test('is not asked for before its turn if the client waits for 100 Continue', async () => {
    const { admission, turn } = admissionOf(false, false)
    const asked: string[] = []
    const post = postOf(turn, 0)
    const request: GatewayRequest = {
      ...post,
      header: (name) => (name === 'expect' ? '100-continue' : undefined),
      body(limitBytes) {
        asked.push('body')
        return post.body(limitBytes)
      },
    }
    const limited = { ...reading, bodyLimitBytes: 9 }
    await expect(withAdmission(limited, admission, ownerOf).handle(request)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    })
    expect(asked).toEqual([])
    expect(await withAdmission(limited, admissionOf(false, true).admission, ownerOf).handle(request)).toEqual(
      answer('9'),
    )
  })

  test('fails its waiting request if it breaks off, unless the request is refused anyway', async () => {
    const limited = { ...reading, bodyLimitBytes: 9 }
    for (const [mayBegin, code] of [
      [true, 'BAD_REQUEST'],
      [false, 'UNAVAILABLE'],
    ] as const) {
      const { admission } = admissionOf(false, mayBegin)
      const body = () => Promise.reject(new GatewayError('BAD_REQUEST'))
      const request: GatewayRequest = { ...requestOf(), method: 'POST', body }
      await expect(withAdmission(limited, admission, ownerOf).handle(request)).rejects.toMatchObject({ code })
    }
  })

  test('is refused if it arrives when there is too much work', async () => {
    const { admission, turn } = admissionOf(true, false)
    const request = postOf(turn, 1)
    const busy = { ...admission, tryBegin: () => turn.number === 1 }
    const refused = withAdmission(reading, busy, ownerOf).handle(request)
    await expect(refused).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 1 })
  })
})

describe('work that may take as long as several requests', () => {
  test('begins at once if its places are free, and otherwise in the turn of its caller', async () => {
    const asked: unknown[] = []
    const owners: string[] = []
    const takeTurn = createTakeTurn(
      {
        tryBegin(arrival) {
          asked.push(arrival)
          return arrival.places < 9
        },
        async wait({ name }, arrival) {
          owners.push(name)
          asked.push(arrival)
          return 'begins'
        },
      },
      ownerOf,
    )
    const caller = requestOf('Bearer known-1')
    expect(takeTurn(caller, 8)).toBeNull()
    expect(await takeTurn(caller, 9)).toBeUndefined()
    // A turn has 64 places, and no more.
    expect(await takeTurn(caller, 1_000)).toBeUndefined()
    expect(asked).toEqual([8, 9, 9, 64, 64].map((places) => ({ places, isFirstOfConnection: false })))
    expect(owners).toEqual(['ana@example.com', 'ana@example.com'])
  })

  test('is UNAVAILABLE for a second if there is too much work', async () => {
    const { admission } = admissionOf(false, false)
    const refused = createTakeTurn(admission, ownerOf)(requestOf(), 2)
    await expect(refused).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 1 })
  })
})
