// Defines what load consists of: a few kinds of request, users whose values fill them in, and the order of sending.
import { seededRandom } from '../../test/support/seeded-random.ts'

export interface LoadRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** In the path, the headers and the body, `{{name}}` is replaced with the user's value of that name. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Names of the user's values that the answer, a JSON object, replaces, such as a new access token. */
  readonly adopts?: readonly string[]
}

export interface LoadPlan {
  readonly requests: readonly LoadRequest[]
  readonly users: readonly Readonly<Record<string, string>>[]
  /** Step n sends request `requestOf[n]` for user `userOf[n]`. After the last step comes the first. */
  readonly requestOf: Uint8Array
  readonly userOf: Uint32Array
}

/** The request with the placeholders replaced by a user's values. */
export function fillIn(request: LoadRequest, values: Readonly<Record<string, string>>): LoadRequest {
  const fill = (text: string) => text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '')
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, fill(value)]))
  const filled = { ...request, path: fill(request.path), headers }
  return request.body === undefined ? filled : { ...filled, body: fill(request.body) }
}

/** Long enough that a measurement does not repeat the sequence in a way that a cache could learn. */
const STEPS = 1 << 17

/** One request, for users chosen at random with equal probability. */
export function uniformPlan(request: LoadRequest, users: LoadPlan['users']): LoadPlan {
  const random = seededRandom(1)
  const userOf = new Uint32Array(STEPS).map(() => Math.floor(random() * users.length))
  return { requests: [request], users, requestOf: new Uint8Array(STEPS), userOf }
}

/** Requests by their shares, for users by Zipf's law: the n-th user is chosen 1/n as often as the first. */
export function zipfPlan(
  mix: readonly { readonly share: number; readonly request: LoadRequest }[],
  users: LoadPlan['users'],
): LoadPlan {
  const random = seededRandom(2)
  const zipf = createZipf(users.length, random)
  const requests = mix.map(({ request }) => request)
  const bounds = mix.map((_, index) => mix.slice(0, index + 1).reduce((sum, { share }) => sum + share, 0))
  const total = bounds.at(-1) ?? 0
  const requestOf = new Uint8Array(STEPS).map(() => {
    const at = random() * total
    return bounds.findIndex((bound) => at < bound)
  })
  return { requests, users, requestOf, userOf: new Uint32Array(STEPS).map(zipf) }
}

/**
 * Returns numbers from 0 to `count` - 1 by Zipf's law with exponent 1, with the popular ones spread over the whole
 * range.
 */
export function createZipf(count: number, random: () => number): () => number {
  const cumulative = new Float64Array(count)
  let sum = 0
  for (let rank = 0; rank < count; rank += 1) {
    sum += 1 / (rank + 1)
    cumulative[rank] = sum
  }
  // A step without a common divisor with the count visits every number once.
  const step = [7_919, 7_907, 7_901].find((prime) => count % prime !== 0) ?? 1
  return () => {
    const at = random() * sum
    let [low, high] = [0, count - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((cumulative[middle] ?? sum) < at) low = middle + 1
      else high = middle
    }
    return (low * step) % count
  }
}
