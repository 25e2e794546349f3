// Parses headers that list what a client accepts, with weights (RFC 9110 section 12.4.2): `Accept` and
// `Accept-Encoding`.
import { LRUCache } from 'lru-cache'
import { withoutOptionalWhiteSpace } from './optional-white-space.ts'

export interface Weighted {
  /** In lower case, without parameters. */
  readonly name: string
  /** 0 to 1; 0 is "not acceptable". */
  readonly weight: number
}

/**
 * Number of headers whose parse result is cached. Clients of one kind send the same header, so this covers as many
 * kinds.
 */
const MAX_REMEMBERED = 100
const MAX_REMEMBERED_LENGTH = 200
/**
 * Maximum number of items in a header, and of parameters per item. A list of 16 KiB would take ten milliseconds;
 * browsers send a dozen items.
 */
const MAX_ITEMS = 100

/** Returns the first `MAX_ITEMS` items in the order of the header, without those that cannot be parsed. */
export function readWeights(header: string): readonly Weighted[] {
  return header
    .toLowerCase()
    .split(',', MAX_ITEMS)
    .flatMap((item) => {
      const [name = '', ...parameters] = item.split(';', MAX_ITEMS).map(withoutOptionalWhiteSpace)
      const weight = readWeight(parameters.find((parameter) => parameter.startsWith('q=')))
      return name === '' || weight === null ? [] : { name, weight }
    })
}

/**
 * The specification demands a digit before the point and up to three behind it, but Java's `HttpURLConnection` sends
 * `q=.2` by default.
 */
const WEIGHT = /^(?:[01]\.?|[01]?\.\d+)$/

function readWeight(parameter: string | undefined): number | null {
  if (parameter === undefined) return 1
  const value = parameter.slice('q='.length)
  const weight = WEIGHT.test(value) ? Number(value) : Number.NaN
  return weight <= 1 ? weight : null
}

/**
 * Caches the results of `read` for a bounded number of short headers. The least recently used one is evicted: whoever
 * sends made-up headers would otherwise take the places of those that clients really send, for as long as the process
 * lives.
 */
export function rememberHeaders<T extends {}>(read: (header: string) => T): (header: string) => T {
  const remembered = new LRUCache<string, T>({ max: MAX_REMEMBERED })
  return (header) => {
    const known = remembered.get(header)
    if (known !== undefined) return known
    const made = read(header)
    if (header.length <= MAX_REMEMBERED_LENGTH) remembered.set(header, made)
    return made
  }
}
