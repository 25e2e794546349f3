// JSON text that goes into a response as it is.
import { GatewayError } from '../../errors.ts'

const RAW = Symbol('raw JSON text')

/** A value of the `JSON` scalar: stored text, spliced into the response. */
export interface RawJson {
  readonly [RAW]: string
}

export function toRawJson(text: string): RawJson {
  return { [RAW]: text }
}

export function isRawJson(value: unknown): value is RawJson {
  return typeof value === 'object' && value !== null && RAW in value
}

/**
 * JSON.stringify for a GraphQL result, with raw text spliced in.
 * Throws `RESPONSE_TOO_LARGE` when the raw text in it is more than `maxLength` UTF-16 code units.
 */
export function stringifyResult(result: unknown, maxLength: number): string {
  let rawLength = 0

  function stringify(value: unknown): string {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
    if (isRawJson(value)) {
      rawLength += value[RAW].length
      if (rawLength > maxLength) throw new GatewayError('RESPONSE_TOO_LARGE')
      return value[RAW]
    }
    if (Array.isArray(value)) return `[${value.map(stringify).join(',')}]`
    if ('toJSON' in value) return JSON.stringify(value)
    let members = ''
    for (const [name, member] of Object.entries(value)) {
      // Names of GraphQL need no escapes (specification, section 2.1.9).
      if (member !== undefined) members += `${members === '' ? '' : ','}"${name}":${stringify(member)}`
    }
    return `{${members}}`
  }

  return stringify(result)
}
