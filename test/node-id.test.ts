// Global ids: opaque texts that identify one thing of one user.
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createNodeIds, type NodeKey } from '../src/resolvers/identity/node-id.ts'
import type { StoredExport } from '../src/store/contract.ts'

const ANA = createNodeIds('ana@example.com')
const BEN = createNodeIds('ben@example.com')

const EXPORT = {
  id: 1,
  userId: 1,
  ref: 'site',
  createdAt: '',
  instant: '2026-01-02T03:04:05.678900001Z',
  digest: '0f'.repeat(32),
  byteLength: 2,
  elementCount: 0,
}

/** Every kind of key, with names of any text that a database can hold. */
const KEYS = fc.oneof(
  fc.record({
    type: fc.constantFrom('project' as const, 'template' as const, 'uiLibrary' as const, 'Session' as const),
    id: fc.string({ unit: 'grapheme' }),
  }),
  fc
    .record({
      ref: fc.string({ unit: 'grapheme' }),
      instant: fc.date({ min: new Date('0000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
      nanoseconds: fc.nat(999_999),
      digest: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      position: fc.option(fc.integer({ min: 1, max: 2 ** 31 - 1 }), { nil: null }),
    })
    .map(({ ref, instant, nanoseconds, digest, position }): NodeKey => {
      const fraction = String(nanoseconds).padStart(6, '0')
      const key = {
        ref,
        instant: instant.toISOString().replace('Z', `${fraction}Z`),
        digest: Buffer.from(digest).toString('hex'),
      }
      return position === null ? { type: 'Export', key } : { type: 'ExportElement', key, position }
    }),
)

function issue(key: NodeKey, ids = ANA): string {
  if (key.type === 'User') return ids.user()
  if (key.type === 'Session') return ids.session(key)
  if (key.type === 'Export') return ids.export(key.key)
  const snapshot: StoredExport = { ...EXPORT, ...('key' in key ? key.key : {}) }
  return key.type === 'ExportElement' ? ids.element(snapshot, key) : ids.document({ kind: key.type, id: key.id })
}

describe('global ids', () => {
  test('name nothing for the element before the first, which would belong to another export', () => {
    const key = { ref: 'site', instant: EXPORT.instant, digest: EXPORT.digest }
    const issued = issue({ type: 'ExportElement', key, position: 1 })
    const forged = Buffer.from(issued, 'base64url')
    const at = forged.indexOf(Buffer.from([0, 0, 0, 0, 0, 1]))
    expect(at).toBeGreaterThan(0)
    forged[at + 5] = 0
    expect(ANA.read(issued)).toMatchObject({ position: 1 })
    expect(ANA.read(forged.toString('base64url'))).toBeNull()
  })

  test('name what they were issued for, whoever issued them for the same email, and nothing of another user', () => {
    fc.assert(
      fc.property(KEYS, (key) => {
        const id = issue(key)
        expect(id).toMatch(/^[\w-]+$/)
        expect(createNodeIds('ana@example.com').read(id)).toEqual(key)
        expect(BEN.read(id)).toBeNull()
        expect(issue(key, BEN)).not.toBe(id)
      }),
    )
  })

  test('differ whenever what they name differs', () => {
    fc.assert(
      fc.property(KEYS, KEYS, (one, other) => {
        expect(issue(one) === issue(other)).toBe(JSON.stringify(one) === JSON.stringify(other))
      }),
    )
    const same = { id: 'same' }
    const issued = [
      ANA.user(),
      ...(['project', 'template', 'uiLibrary'] as const).map((kind) => ANA.document({ kind, ...same })),
      ANA.export({ ...EXPORT, ref: 'same' }),
      ANA.element({ ...EXPORT, ref: 'same' }, { position: 1 }),
      ANA.element({ ...EXPORT, ref: 'same' }, { position: 2 }),
    ]
    expect(new Set(issued).size).toBe(issued.length)
  })

  test('stay the same from one release to the next', () => {
    expect([
      ANA.user(),
      ANA.document({ kind: 'project', id: 'p1' }),
      ANA.export(EXPORT),
      ANA.element(EXPORT, { position: 3 }),
    ]).toMatchInlineSnapshot(`
      [
        "AW5Gt0KdI00kK1gh89lJ",
        "Am5Gt0KdI00kK1gh89lJcDE",
        "BW5Gt0KdI00kK1gh89lJICYBAgMEBWeJAAAQDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw9zaXRl",
        "Bm5Gt0KdI00kK1gh89lJAAAAAAADICYBAgMEBWeJAAAQDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw8PDw9zaXRl",
      ]
    `)
  })

  test('have one spelling, and no other text is read as an id', () => {
    const id = ANA.document({ kind: 'project', id: 'p1' })
    const exportId = ANA.export(EXPORT)
    const others = [
      '',
      'p1',
      '%%%',
      'é',
      `${id}=`,
      ` ${id}`,
      `${id}.`,
      id.slice(0, -1),
      `${ANA.user()}AA`,
      exportId.slice(0, 40),
      exportId.replace(/^.{21}/, (head) => `${head.slice(0, -1)}_`),
      ANA.user().slice(0, -1),
      // A last character with unused bits, and bytes that are not UTF-8.
      `${id.slice(0, 20)}cDF`,
      `${id.slice(0, 20)}${Buffer.of(0xff).toString('base64url')}`,
      `B${id.slice(1)}`,
      // No stored name has this character, and PostgreSQL fails for a parameter with it.
      ANA.document({ kind: 'project', id: 'p\0' }),
      ANA.session({ id: '\0' }),
      ANA.export({ ...EXPORT, ref: 'a\0b' }),
      Buffer.from('Project:p1').toString('base64'),
      'x'.repeat(100_000),
    ]
    expect(ANA.read(id)).toEqual({ type: 'project', id: 'p1' })
    for (const other of others) {
      const key = ANA.read(other)
      expect(key === null || issue(key) === other, other.slice(0, 100)).toBe(true)
    }
    expect(others.filter((other) => ANA.read(other) !== null)).toEqual([])
  })

  test('are not read when their type is unknown or when they are cut short', () => {
    const bytes = Buffer.from(ANA.document({ kind: 'project', id: 'p1' }), 'base64url')
    for (const type of [0, 8, 255]) {
      bytes[0] = type
      expect(ANA.read(bytes.toString('base64url'))).toBeNull()
    }
    const whole = [ANA.export({ ...EXPORT, ref: '' }), ANA.element({ ...EXPORT, ref: '' }, { position: 3 })]
    for (const id of whole) {
      expect(ANA.read(id)).not.toBeNull()
      for (let length = 0; length < id.length; length += 1) expect(ANA.read(id.slice(0, length))).toBeNull()
    }
  })

  test('contain neither the email nor the SHA-256 by which others look emails up', () => {
    const id = ANA.document({ kind: 'project', id: 'p1' })
    const bytes = Buffer.from(id, 'base64url')
    expect(bytes.toString('latin1')).not.toContain('ana@')
    expect(bytes.toString('hex')).not.toContain(
      createHash('sha256').update('ana@example.com').digest('hex').slice(0, 16),
    )
  })
})
