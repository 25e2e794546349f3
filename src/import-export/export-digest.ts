// Computes the digest and the size of an export's JSON array, element by element.
import { createHash } from 'node:crypto'

export interface ExportDigest {
  readonly add: (element: string) => void
  /** Must be called only once. `byteLength` is the length of the array's JSON text. */
  readonly finish: () => { readonly digest: string; readonly byteLength: number; readonly elementCount: number }
}

export function createExportDigest(): ExportDigest {
  const hash = createHash('sha256')
  let byteLength = 2
  let elementCount = 0
  return {
    add(element) {
      hash.update(elementCount === 0 ? '[' : ',').update(element)
      byteLength += Buffer.byteLength(element) + (elementCount === 0 ? 0 : 1)
      elementCount += 1
    },
    finish: () => ({ digest: hash.update(elementCount === 0 ? '[]' : ']').digest('hex'), byteLength, elementCount }),
  }
}
