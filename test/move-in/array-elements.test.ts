// Arrays of another server: arrayElements takes the elements as written when JSON.parse accepts the array.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { arrayElements } from '../../src/import-export/remote/array-elements.ts'
import { createSeededRandom, randomSeed } from '../support/seeded-random.ts'

const MAX = 1_000

function read(text: string): unknown {
  try {
    return arrayElements(text, MAX).map((element) => JSON.parse(element))
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError)
    return null
  }
}

function expected(text: string): unknown {
  try {
    const value = JSON.parse(text)
    return Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

test.each([
  ...['[]', ' [ ] ', '[1]', '[1.0,-0,"a\\"]",[],{"a":[{}]},null]\n', '[[1],[2]]', '["\\u005d"]'],
  ...['', '[', '[1', '[1,', '[1,]', '[,1]', '[1 2]', '[1,,2]', '[]]', '[] x', '[1]1', '{}', '{"a":[]}', '"[]"', 'null'],
  ...['[{]', '[{"a"}]', '[}]', '["]', '["\\"]', '[tru]', '[01]', '[1}', '[{"a":1]]', '<html>[]</html>', '[\u00a0]'],
])('arrayElements takes or refuses %j like JSON.parse', (text) => {
  expect(read(text)).toEqual(expected(text))
})

test('arrayElements takes or refuses a text like JSON.parse, whatever is changed in it', () => {
  const seed = randomSeed()
  const { below, sample } = createSeededRandom(seed)
  const whole = '[{"a":[1,{"b":"],\\\\"}]} , "x",\n[[],[-1.5e3]],true]'
  for (let round = 0; round < 20_000; round += 1) {
    const at = below(whole.length)
    const [put = ''] = sample(['', ',', ']', '[', '{', '}', '"', '\\', ' ', '1', ':'], 1)
    const text = whole.slice(0, at) + put + whole.slice(at + below(2))
    expect(read(text), `${text} (seed ${seed})`).toEqual(expected(text))
  }
})

test('arrayElements replaces line ends between tokens by spaces, and reads no further than one element past the maximum', () => {
  expect(arrayElements('[{\r\n"a":\n1}]', 1)).toEqual(['{  "a": 1}'])
  expect(arrayElements('[1,2,3,no', 2)).toHaveLength(3)
})

test('arrayElements reads an answer one element at a time that would be twenty times as large when parsed', async () => {
  const { href } = new URL('../../src/import-export/remote/array-elements.ts', import.meta.url)
  const worker = new Worker(
    `import(${JSON.stringify(href)}).then(({ arrayElements }) => {
      const element = '[' + Array(30_000).fill('{}').join() + ']'
      const text = '[' + Array(200).fill(element).join() + ']'
      require('node:worker_threads').parentPort.postMessage(arrayElements(text, ${MAX}).length)
    })`,
    { eval: true, resourceLimits: { maxOldGenerationSizeMb: 120 } },
  )
  expect(await once(worker, 'message')).toEqual([200])
  await worker.terminate()
})
