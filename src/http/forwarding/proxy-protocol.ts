// Parses the PROXY protocol header, versions 1 and 2 (https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt).
import { isIP } from 'node:net'

/** The client that a proxy forwards for. */
export interface ProxiedConnection {
  /** Null when the proxy speaks for itself or does not know the client. */
  readonly source: { readonly address: string; readonly isTls: boolean } | null
  /** Length of the header in bytes. */
  readonly byteLength: number
}

/** `incomplete`: more bytes are needed. `malformed`: more bytes will not help. */
export type ProxyHeader = ProxiedConnection | 'incomplete' | 'malformed'

const SIGNATURE_V1 = Buffer.from('PROXY ')
const SIGNATURE_V2 = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
/** Section 2.1: the longest line, including its line end. */
const MAX_LENGTH_V1 = 107
/** Length of addresses and TLVs. Real headers are under 600 bytes, most of them the path of a Unix socket. */
const MAX_LENGTH_V2 = 2_048
const FIXED_LENGTH_V2 = 16
const HTTPS_PORT = 443
const TLV_SSL = 0x20
const CLIENT_SSL = 0x01

export function readProxyHeader(bytes: Buffer): ProxyHeader {
  if (startsLike(bytes, SIGNATURE_V2)) return bytes.length < FIXED_LENGTH_V2 ? 'incomplete' : readV2(bytes)
  if (startsLike(bytes, SIGNATURE_V1)) return readV1(bytes)
  return 'malformed'
}

function startsLike(bytes: Buffer, signature: Buffer): boolean {
  const length = Math.min(bytes.length, signature.length)
  return bytes.subarray(0, length).equals(signature.subarray(0, length))
}

/** Parses version 1, section 2.1: `PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n`. */
function readV1(bytes: Buffer): ProxyHeader {
  const end = bytes.subarray(0, MAX_LENGTH_V1).indexOf('\r\n')
  if (end === -1) return bytes.length < MAX_LENGTH_V1 ? 'incomplete' : 'malformed'
  const byteLength = end + 2
  const [, family = '', source = '', destination = '', ...ports] = bytes.toString('latin1', 0, end).split(' ')
  if (family === 'UNKNOWN') return { source: null, byteLength }
  const version = { TCP4: 4, TCP6: 6 }[family]
  const isWhole =
    ports.length === 2 && ports.every((port) => /^(?:0|[1-9]\d{0,4})$/.test(port) && Number(port) <= 65_535)
  if (version === undefined || !isWhole || isIP(source) !== version || isIP(destination) !== version) return 'malformed'
  return { source: { address: source, isTls: Number(ports[1]) === HTTPS_PORT }, byteLength }
}

/** Parses version 2, section 2.2. */
function readV2(bytes: Buffer): ProxyHeader {
  const [versionAndCommand = 0, familyAndTransport = 0] = bytes.subarray(12, 14)
  const length = bytes.readUInt16BE(14)
  const command = versionAndCommand & 0x0f
  if (versionAndCommand >> 4 !== 2 || command > 1 || length > MAX_LENGTH_V2) return 'malformed'
  const byteLength = FIXED_LENGTH_V2 + length
  if (bytes.length < byteLength) return 'incomplete'
  const addressLength = { 17: 4, 33: 16 }[familyAndTransport]
  // For LOCAL, and for families other than TCP over IP, the connection itself counts.
  if (command === 0 || addressLength === undefined) return { source: null, byteLength }
  const block = bytes.subarray(FIXED_LENGTH_V2, byteLength)
  const tlvs = addressLength * 2 + 4
  if (block.length < tlvs) return 'malformed'
  const isTls = block.readUInt16BE(tlvs - 2) === HTTPS_PORT || saysTls(block.subarray(tlvs))
  return { source: { address: toAddress(block.subarray(0, addressLength)), isTls }, byteLength }
}

/** Looks for the TLV `PP2_TYPE_SSL`, section 2.2.6. */
function saysTls(tlvs: Buffer): boolean {
  for (let at = 0; at + 3 <= tlvs.length; at += 3 + tlvs.readUInt16BE(at + 1)) {
    if (tlvs[at] === TLV_SSL) return ((tlvs[at + 3] ?? 0) & CLIENT_SSL) !== 0
  }
  return false
}

function toAddress(bytes: Buffer): string {
  if (bytes.length === 4) return [...bytes].join('.')
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16)).join(':')
  return new URL(`http://[${groups}]/`).hostname.slice(1, -1)
}
