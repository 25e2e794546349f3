// node signing.ts INPUT SECONDS: measures what an Ed25519 signature of INPUT costs an otherwise idle Node process, with
// each API.
import { generateKeyPairSync, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { importPKCS8 } from 'jose'

export interface SigningFigures {
  readonly signaturesPerSecond: number
  readonly cpuMicrosecondsPerSignature: number
}

const AT_ONCE = 64
const [input = '', seconds = ''] = process.argv.slice(2)
const bytes = Buffer.from(input)
const { privateKey } = generateKeyPairSync('ed25519')
const cryptoKey = await importPKCS8(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), 'EdDSA')
const signInPool = promisify(sign)

/** Each function returns the number of signatures that it made. */
const WAYS: Readonly<Record<string, () => number | Promise<number>>> = {
  'node:crypto': () => {
    for (let count = 0; count < AT_ONCE; count += 1) sign(null, bytes, privateKey)
    return AT_ONCE
  },
  'node:crypto, 64 at once': () => allOf(() => signInPool(null, bytes, privateKey)),
  'Web Crypto, 64 at once': () => allOf(() => crypto.subtle.sign('Ed25519', cryptoKey, bytes)),
}

async function allOf(signOnce: () => Promise<unknown>): Promise<number> {
  await Promise.all(Array.from({ length: AT_ONCE }, signOnce))
  return AT_ONCE
}

const figures: Record<string, SigningFigures> = {}
for (const [way, run] of Object.entries(WAYS)) {
  // Warm-up: a tenth of the time.
  await measure(run, Number(seconds) / 10)
  figures[way] = await measure(run, Number(seconds))
}
process.stdout.write(JSON.stringify(figures))

async function measure(run: () => number | Promise<number>, forSeconds: number): Promise<SigningFigures> {
  const start = performance.now()
  const cpu = process.cpuUsage()
  let signatures = 0
  while (performance.now() - start < forSeconds * 1_000) signatures += await run()
  const { user, system } = process.cpuUsage(cpu)
  return {
    signaturesPerSecond: (1_000 * signatures) / (performance.now() - start),
    cpuMicrosecondsPerSignature: (user + system) / signatures,
  }
}
