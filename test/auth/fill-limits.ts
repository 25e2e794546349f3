// Measures what the rate limits hold after many addresses have reached them. Run by npm run test:limits, it sends a
// million addresses.
import { pathToFileURL } from 'node:url'
import { networkOf } from '../../src/auth/limits/network.ts'
import { createRateLimits } from '../../src/auth/limits/rate-limits.ts'
import { liveBytes } from '../support/live-bytes.ts'

/** Returns the bytes held after this many addresses, each with its own email and client, have reached every limit. */
export async function bytesHeldAfter(addresses: number): Promise<number> {
  const limits = createRateLimits({ attemptsPerMinute: 600, clock: Date.now })
  const before = await liveBytes()
  for (let at = 0; at < addresses; at += 1) {
    const [high, low] = [(at >> 16).toString(16), (at & 0xffff).toString(16)]
    const network = networkOf(
      at % 2 === 0 ? `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}` : `2001:db8:${high}:${low}::1`,
    )
    const subject = { network, email: `somebody-with-a-long-name-${at}@department.example.com`, client: `client-${at}` }
    for (const operation of ['login', 'refresh', 'code'] as const) limits.take(operation, subject)
  }
  const held = (await liveBytes()) - before
  // Keeps `limits` alive until it has been measured.
  limits.take('login', { network: '192.0.2.1' })
  return held
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const held = await bytesHeldAfter(1_000_000)
  console.log(`1,000,000 addresses, emails and clients at every limit: ${(held / 1e6).toFixed(1)} MB are held`)
  process.exitCode = held < 20_000_000 ? 0 : 1
}
