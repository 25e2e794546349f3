// Headers that list what a client takes, with weights (RFC 9110 section 12.4.2): the one reader of `Accept` and `Accept-Encoding`.
import { withoutOptionalWhiteSpace } from './optional-white-space.ts'

export interface Weighted {
  /** In lower case, without parameters. */
  readonly name: string
  /** 0 to 1; 0 is "not acceptable". */
  readonly weight: number
}

/** Clients of one kind send one header: what was read is remembered for as many kinds. */
const MAX_REMEMBERED = 100
const MAX_REMEMBERED_LENGTH = 200
/** Of a header, and parameters of each: a list of 16 KiB would take ten milliseconds. Browsers send a dozen. */
const MAX_ITEMS = 100

/** In the order of the header, the first `MAX_ITEMS`; what cannot be understood is left out. */
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

/** The specification has a digit before the point and three behind it; Java's `HttpURLConnection` sends `q=.2` of its own accord. */
const WEIGHT = /^(?:[01]\.?|[01]?\.\d+)$/

function readWeight(parameter: string | undefined): number | null {
  if (parameter === undefined) return 1
  const value = parameter.slice('q='.length)
  const weight = WEIGHT.test(value) ? Number(value) : Number.NaN
  return weight <= 1 ? weight : null
}

/** Remembers what was read of short headers, for a bounded number of them. */
export function rememberHeaders<T>(read: (header: string) => T): (header: string) => T {
  const remembered = new Map<string, T>()
  return (header) => {
    const known = remembered.get(header)
    if (known !== undefined) return known
    const made = read(header)
    if (remembered.size < MAX_REMEMBERED && header.length <= MAX_REMEMBERED_LENGTH) remembered.set(header, made)
    return made
  }
}
