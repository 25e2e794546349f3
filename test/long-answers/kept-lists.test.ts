// Tests which long lists are kept replies.
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { ANA, documentLine } from '../support/workspaces.ts'

const KIB = 1_024

/** A document of a little more than a KiB. */
const textOf = (n: number, word: string) => `{"id":"t${n}","text":"${word.repeat(KIB / 4)}"}`
const textsOf = (count: number, word: string) => Array.from({ length: count }, (_, n) => textOf(n, word))
const arrayOf = (count: number, word: string) => `[${textsOf(count, word).join(',')}]`
const linesOf = (texts: readonly string[]) => texts.map((text) => documentLine('template', ANA, text)).join('')

async function startWith(count: number) {
  const kept: boolean[] = []
  const gateway = await startGateway({ observers: [({ record }) => void kept.push(record.isKept)] })
  await gateway.load(linesOf(textsOf(count, 'word')))
  const { accessToken } = await gateway.login(ANA)
  kept.length = 0
  return {
    ...gateway,
    kept,
    read: (etag = '') => gateway.get('/templates', accessToken, etag === '' ? {} : { 'if-none-match': etag }),
  }
}

test('a list that is read in several parts is made once, and again after a change', async () => {
  const { read, kept, load } = await startWith(400)
  const first = await read()
  const again = await read()
  expect([first.text, again.text]).toEqual([arrayOf(400, 'word'), arrayOf(400, 'word')])
  const etag = first.headers.get('etag') ?? ''
  expect((await read(etag)).status).toBe(304)
  expect(kept).toEqual([false, true, true])
  await load(linesOf([textOf(399, 'idea')]))
  const changed = await read(etag)
  expect(changed.status).toBe(200)
  expect(changed.text).toBe(arrayOf(400, 'word').replace(textOf(399, 'word'), textOf(399, 'idea')))
  expect(kept).toEqual([false, true, true, false])
})

test('a list of more than four mebibytes is made for each request', async () => {
  const { read, kept } = await startWith(4_200)
  const [first, again] = [await read(), await read()]
  expect(first.text.length).toBeGreaterThan(4 * KIB * KIB)
  expect(again.text).toBe(first.text)
  expect(kept).toEqual([false, false])
})
