// The contract suite of the store's signing keys.
import { describe, expect, test } from 'vitest'
import type { Store } from '../../src/store/contract.ts'
import { NOW } from './values.ts'

const key = (kid: string, createdAt = NOW) => ({ kid, privateJwk: `{"kid":"${kid}"}`, createdAt })

export function describeSigningKeys(open: () => Store): void {
  describe('signing keys', () => {
    test('get a first key only once, whoever adds one at the same time', async () => {
      const store = open()
      const keys = ['a', 'b', 'c'].map((kid) => key(kid))
      const kept = await Promise.all(keys.map((one) => store.addSigningKey(one, null)))
      expect(kept.toSorted()).toEqual([false, false, true])
      const stored = await store.signingKeys()
      expect(stored).toEqual([keys[kept.indexOf(true)]])
    })

    test('get a next key only while the newest key is the one that was seen', async () => {
      const store = open()
      await store.addSigningKey(key('a'), null)
      expect(await store.addSigningKey(key('b', NOW + 1), 'unknown')).toBe(false)
      const kept = await Promise.all(['b', 'c'].map((kid) => store.addSigningKey(key(kid, NOW + 1), 'a')))
      expect(kept.toSorted()).toEqual([false, true])
      const [newest, ...older] = await store.signingKeys()
      expect(newest?.createdAt).toBe(NOW + 1)
      expect(older).toEqual([key('a')])
    })

    test('are removed once, and the others stay', async () => {
      const store = open()
      await store.addSigningKey(key('a'), null)
      await store.addSigningKey(key('b', NOW + 1), 'a')
      expect(await store.removeSigningKey('a')).toBe(true)
      expect(await store.removeSigningKey('a')).toBe(false)
      expect(await store.signingKeys()).toEqual([key('b', NOW + 1)])
    })

    test('are rewritten in place, and a key that does not exist is not created', async () => {
      const store = open()
      await store.addSigningKey(key('a'), null)
      await store.rewriteSigningKeys([
        { kid: 'a', privateJwk: 'sealed' },
        { kid: 'b', privateJwk: 'sealed' },
      ])
      expect(await store.signingKeys()).toEqual([{ ...key('a'), privateJwk: 'sealed' }])
    })
  })
}
