// The document cache: bounded in bytes, and fair to every owner.
import { expect, test } from 'vitest'
import { createDocumentCache } from '../../src/graphql/document/document-cache.ts'

const ANA = 1
const BEN = 2

test('entries of one owner make room for each other, the least recently used first', () => {
  const cache = createDocumentCache<string>({ maxBytes: 100, maxShare: 0.3 })
  for (const key of ['a', 'b', 'c']) cache.set(key, ANA, key, 10)
  expect(cache.get('a', ANA)).toBe('a')
  cache.set('d', ANA, 'd', 10)
  expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key, ANA))).toEqual(['a', undefined, 'c', 'd'])
})

test('the entries of one owner stay, however many another owner adds', () => {
  const cache = createDocumentCache<string>({ maxBytes: 100, maxShare: 0.3 })
  cache.set('of ben', BEN, 'kept', 10)
  for (let index = 0; index < 1_000; index += 1) cache.set(`of ana ${index}`, ANA, 'one of many', 10)
  expect(cache.get('of ben', BEN)).toBe('kept')
})

test('an entry that a second owner has used no longer counts toward the share of the first', () => {
  const cache = createDocumentCache<string>({ maxBytes: 100, maxShare: 0.3 })
  cache.set('shared', ANA, 'kept', 10)
  expect(cache.get('shared', BEN)).toBe('kept')
  for (let index = 0; index < 6; index += 1) cache.set(`of ana ${index}`, ANA, 'hers', 10)
  expect(cache.get('shared', BEN)).toBe('kept')
})

test('the cache stays within its bytes, and does not keep an entry that is larger than a share', () => {
  const cache = createDocumentCache<number>({ maxBytes: 100, maxShare: 0.5 })
  cache.set('too large', ANA, 0, 51)
  expect(cache.get('too large', ANA)).toBeUndefined()
  for (let owner = 0; owner < 30; owner += 1) cache.set(`of ${owner}`, owner, owner, 10)
  const kept = Array.from({ length: 30 }, (_, owner) => cache.get(`of ${owner}`, owner)).filter(
    (value) => value !== undefined,
  )
  expect(kept.length).toBe(10)
})

test('an entry as large as a whole share is kept, and a larger entry evicts nothing', () => {
  const cache = createDocumentCache<string>({ maxBytes: 100, maxShare: 0.3 })
  cache.set('whole', ANA, 'kept', 30)
  cache.set('too large', ANA, 'not kept', 31)
  expect([cache.get('whole', ANA), cache.get('too large', ANA)]).toEqual(['kept', undefined])
})

test('an entry that grows evicts others of its owner; once shared, it evicts the least recently used of all', () => {
  const cache = createDocumentCache<string>({ maxBytes: 100, maxShare: 0.5 })
  for (const key of ['a', 'b', 'c']) cache.set(key, ANA, key, 10)
  for (const key of ['d', 'e']) cache.set(key, BEN, key, 10)
  cache.resize('b', 'b', 35)
  const kept = () => ['a', 'b', 'c', 'd', 'e'].filter((key, index) => cache.get(key, index < 3 ? ANA : BEN))
  expect(kept()).toEqual(['b', 'c', 'd', 'e'])
  // An entry that two owners have used belongs to nobody: then all entries make room.
  expect(cache.get('b', BEN)).toBe('b')
  cache.resize('b', 'b', 75)
  expect(kept()).toEqual(['b', 'd', 'e'])
})

test('an entry that is gone, or has a new value, does not grow', () => {
  const cache = createDocumentCache<string>({ maxBytes: 100, maxShare: 1 })
  cache.set('a', ANA, 'new', 10)
  cache.set('b', ANA, 'b', 60)
  cache.resize('a', 'old', 90)
  cache.resize('c', 'c', 90)
  expect(['a', 'b', 'c'].map((key) => cache.get(key, ANA))).toEqual(['new', 'b', undefined])
})

test('an owner never keeps more than its share, even when other owners take over some of its entries', () => {
  const cache = createDocumentCache<string>({ maxBytes: 1_000, maxShare: 0.03 })
  const keys = Array.from({ length: 20 }, (_, index) => `of ana ${index}`)
  for (const [index, key] of keys.entries()) {
    cache.set(key, ANA, key, 10)
    if (index % 5 === 0) cache.get(key, BEN)
  }
  const kept = keys.filter((key) => cache.get(key, ANA) !== undefined)
  expect(kept).toEqual([0, 5, 10, 15, 17, 18, 19].map((index) => `of ana ${index}`))
})

test('a cache of no bytes keeps nothing', () => {
  const cache = createDocumentCache<string>({ maxBytes: 0, maxShare: 1 })
  cache.set('a', ANA, 'a', 1)
  expect(cache.get('a', ANA)).toBeUndefined()
})
