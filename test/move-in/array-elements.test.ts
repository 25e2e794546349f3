// Arrays of another server: taken as they are written where JSON.parse takes them, and refused where it does not.
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
])('%j', (text) => {
  expect(read(text)).toEqual(expected(text))
})

test('whatever is changed in a text, it is taken or refused as JSON.parse has it', () => {
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

test('line ends between tokens become spaces, and it reads no further than one past the most', () => {
  expect(arrayElements('[{\r\n"a":\n1}]', 1)).toEqual(['{  "a": 1}'])
  expect(arrayElements('[1,2,3,no', 2)).toHaveLength(3)
})

test('an answer that would be twenty times as large when it is parsed is read an element at a time', async () => {
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
