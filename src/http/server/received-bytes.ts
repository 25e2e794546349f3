// Bounds the memory for request bodies that are being received, in total and per client network.
import { networkOf } from '../../auth/limits/network.ts'
import { createInFlightBytes, type InFlightBytes, type Reservation } from '../limits/in-flight-bytes.ts'

/** This much of a body is received whatever others hold. Nearly all bodies are no larger, and reserve nothing. */
const SMALL_BODY_BYTES = 16_384
/** Total size of the larger bodies, unless four times the limit of one body is more. */
const MAX_RECEIVED_BYTES = 67_108_864
/** Number of networks that slow clients must control before nobody else has room. */
const SHARES = 4

type Growing = Pick<Reservation, 'grow'> & Disposable

/** Opens a reservation for a body that comes from this address. */
export type ReceiveFrom = (address: string) => Growing

interface Share {
  readonly budget: InFlightBytes
  bodies: number
}

export function createReceivedBytes(bodyLimitBytes: number): ReceiveFrom {
  const maxBytes = Math.max(MAX_RECEIVED_BYTES, SHARES * bodyLimitBytes)
  const all = createInFlightBytes(maxBytes)
  /** Shares of the networks that are sending a large body. */
  const shares = new Map<string, Share>()

  /** The reservation grows in both budgets or in neither. */
  function openFor(network: string): Growing {
    const share = shares.get(network) ?? { budget: createInFlightBytes(maxBytes / SHARES), bodies: 0 }
    shares.set(network, share)
    share.bodies += 1
    const ofNetwork = share.budget.open(0)
    const ofAll = all.open(0)
    return {
      grow(byteLength) {
        if (!ofNetwork.grow(byteLength)) return false
        if (ofAll.grow(byteLength)) return true
        ofNetwork.shrink(byteLength)
        return false
      },
      [Symbol.dispose]() {
        ofNetwork[Symbol.dispose]()
        ofAll[Symbol.dispose]()
        share.bodies -= 1
        if (share.bodies === 0) shares.delete(network)
      },
    }
  }

  return (address) => {
    let free = SMALL_BODY_BYTES
    let reserved: Growing | null = null
    return {
      grow(byteLength) {
        if (byteLength <= free) {
          free -= byteLength
          return true
        }
        reserved ??= openFor(networkOf(address))
        return reserved.grow(byteLength)
      },
      [Symbol.dispose]() {
        reserved?.[Symbol.dispose]()
      },
    }
  }
}
