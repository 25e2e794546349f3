// Reads the wire format of protobuf (https://protobuf.dev/programming-guides/encoding).

/**
 * Returns the values of one field number, in order: the bytes of a text or a message, eight bytes of a fixed64, and the
 * digits of a varint.
 */
export function membersOf(message: Buffer | undefined, wanted: number): readonly Buffer[] {
  const bytes = message ?? Buffer.alloc(0)
  const found: Buffer[] = []
  let at = 0

  function varint(): bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at)
      at += 1
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }

  while (at < bytes.byteLength) {
    const tag = Number(varint())
    const [number, type] = [tag >> 3, tag & 7]
    let value: Buffer
    if (type === 0) {
      value = Buffer.from(String(varint()))
    } else {
      const length = type === 1 ? 8 : Number(varint())
      value = bytes.subarray(at, at + length)
      if (value.byteLength !== length) throw new RangeError('the message ends within a member')
      at += length
    }
    if (number === wanted) found.push(value)
  }
  return found
}
