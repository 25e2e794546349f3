// The text of an answer, built and sent: short pieces become one string, long ones bytes at once, and nothing is lost.
import { describe, expect, test } from 'vitest'
import { createTextBuilder, encodeText, encodeWhole, lengthOf, type Text } from '../../../src/graphql/execution/text.ts'

const MAX_JOINED = 65_536
const STREAM = {
  byteLength: 6,
  async *chunks() {
    yield Buffer.from('abc')
    yield Buffer.from('def')
  },
}

function build(...texts: readonly Text[]): Text {
  const builder = createTextBuilder()
  for (const text of texts) builder.add(text)
  return builder.build()
}

/** The parts in which the text is sent, and the number of turns before each. Throws if the parts do not end. */
async function sent(text: Text, maxLength: number) {
  const parts: string[] = []
  const turns: number[] = []
  let waited = 0
  const yieldTurn = async () => {
    waited += 1
  }
  for await (const part of encodeText(text, maxLength, yieldTurn)) {
    parts.push(Buffer.from(part).toString())
    turns.push(waited)
    if (parts.length > 100) throw new Error('there is no end of parts')
  }
  return { parts, turns }
}

describe('a text is built', () => {
  test('from short pieces as one string', () => {
    expect(build()).toBe('')
    expect(build('[', '1', ',', '', 'é', ']')).toBe('[1,é]')
    expect(build('x'.repeat(MAX_JOINED - 1), 'x')).toBe('x'.repeat(MAX_JOINED))
  })

  test('from long pieces as bytes, as soon as they are long', () => {
    const long = 'é'.repeat(MAX_JOINED)
    expect(build(long, 'x')).toEqual([Buffer.from(`${long}x`)])
    expect(build(long, 'x', '[', ']')).toEqual([Buffer.from(`${long}x`), Buffer.from('[]')])
  })

  test('around pieces that are no strings, which stay as they are', () => {
    const bytes = Buffer.from('bytes')
    expect(build(bytes)).toEqual([bytes])
    expect(build('a', 'b', bytes, STREAM, 'c')).toEqual([Buffer.from('ab'), bytes, STREAM, Buffer.from('c')])
    expect(build('a', ['x', ['y']], bytes)).toEqual([Buffer.from('a'), ['x', ['y']], bytes])
  })
})

test('the length of a text counts characters of strings and bytes of buffers', () => {
  expect(lengthOf('é')).toBe(1)
  expect(lengthOf(Buffer.from('é'))).toBe(2)
  expect(lengthOf(['é', Buffer.from('é'), [STREAM, 'ab']])).toBe(11)
})

test('a text is encoded whole if it contains no stream', () => {
  expect(encodeWhole('é')).toEqual(Buffer.from('é'))
  expect(encodeWhole(['a', ['é', Buffer.from('b')], []])).toEqual(Buffer.from('aéb'))
  expect(encodeWhole(Buffer.from('b'))).toEqual(Buffer.from('b'))
  for (const text of [STREAM, ['a', STREAM], ['a', ['b', [STREAM]], 'c']]) expect(encodeWhole(text)).toBeNull()
})

describe('a text is sent', () => {
  test('in parts of a given length, each in its own turn', async () => {
    expect(await sent('abcdefgh', 3)).toEqual({ parts: ['abc', 'def', 'gh'], turns: [1, 2, 3] })
    expect(await sent('abc', 3)).toEqual({ parts: ['abc'], turns: [1] })
    expect(await sent('', 3)).toEqual({ parts: [], turns: [] })
  })

  test('in the order of its pieces; bytes in one part, a stream as it comes', async () => {
    const text = ['abcd', [Buffer.from('bytes'), STREAM], 'x']
    expect(await sent(text, 2)).toEqual({
      parts: ['ab', 'cd', 'bytes', 'abc', 'def', 'x'],
      turns: [1, 2, 3, 3, 3, 4],
    })
  })

  test('with short pieces joined, up to the length of a part', async () => {
    const bytes = (text: string) => Buffer.from(text)
    const text = [['ab', bytes('c')], bytes('de'), 'f', bytes('longer'), '', bytes('g'), STREAM, bytes('h'), 'i']
    expect(await sent(text, 3)).toEqual({
      parts: ['abc', 'def', 'longer', 'g', 'abc', 'def', 'hi'],
      turns: [1, 2, 3, 4, 4, 4, 5],
    })
    expect((await sent([bytes('é'), bytes('é'), 'x'], 3)).parts).toEqual(['é', 'éx'])
    const many = Array.from({ length: 10_000 }, () => bytes('x'))
    expect((await sent(many, 100_000)).parts.map(({ length }) => length)).toEqual([4_096, 4_096, 1_808])
    // A long piece is sent as it is, because other answers may share its bytes.
    const long = Buffer.alloc(20_000, 'l')
    const parts = await Array.fromAsync(encodeText(['x', long, 'y'], 100_000, async () => {}))
    expect([parts.length, parts[1]]).toEqual([3, long])
    expect(parts[1]?.buffer).toBe(long.buffer)
  })

  test('without splitting a surrogate pair between two parts', async () => {
    for (const letter of ['\u{10000}', '\u{10ffff}', '😀']) {
      expect((await sent(`a${letter}bc`, 2)).parts).toEqual([`a${letter}`, 'bc'])
      expect((await sent(letter.repeat(3), 1)).parts).toEqual([letter, letter, letter])
      expect((await sent(`ab${letter}`, 2)).parts).toEqual(['ab', letter])
    }
    expect((await sent('a\u{e000}\u{d7ff}b', 1)).parts).toEqual(['a', '\u{e000}', '\u{d7ff}', 'b'])
  })
})
