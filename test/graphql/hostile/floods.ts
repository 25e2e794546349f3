// Requests that are hostile by their number: many requests of one client, each of them harmless.
import { randomInt } from 'node:crypto'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { LimitedGateway } from './limited-gateway.ts'
import { documentRequest, times } from './shape.ts'

export interface FloodOf {
  readonly gateway: LimitedGateway
  readonly attacker: string
  readonly victim: string
}

export interface Flood {
  readonly name: string
  /** Resolves with what went wrong. */
  readonly run: (of: FloodOf) => Promise<readonly string[]>
}

const IN_FLIGHT = 8
const PIPELINED = 3_000
const PIPELINING_CONNECTIONS = 12
const UNREAD_MS = 3_000

/** What the victim requests; the variable makes it another request with the same document. */
function victimRequest(count: number) {
  return documentRequest('query Victim($n: Int) { me { email projects(first: $n) { name } } }', {
    variables: { n: count },
  })
}

/** Sends different documents, and checks whether the victim's plan and kept reply are still cached. */
export async function floodWithDocuments(
  { gateway, attacker, victim }: FloodOf,
  count: number,
  documentOf: (index: number) => string,
): Promise<readonly string[]> {
  // A plan is kept once its document was executed twice, a reply at once.
  for (const limit of [2, 3, 1]) await gateway.send(victimRequest(limit), victim)
  const before = await gateway.send(victimRequest(1), victim)
  const wrong = before.trace.includes('reply=kept') ? [] : [`before: Gateway-Trace was "${before.trace}"`]
  const outcomes = new Map<string, number>()
  let next = 0
  const work = async () => {
    while (next < count && gateway.isAlive()) {
      const { outcome } = await gateway.send(documentRequest(documentOf(next++)), attacker)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, work))
  for (const [outcome, number] of outcomes) if (!/^[24]00\b/.test(outcome)) wrong.push(`${number} × ${outcome}`)
  const again = await gateway.send(victimRequest(1), victim)
  if (!again.trace.includes('reply=kept')) wrong.push(`the same request: Gateway-Trace was "${again.trace}"`)
  const other = await gateway.send(victimRequest(randomInt(4, 1_000_000)), victim)
  if (!other.trace.includes('plan=kept')) wrong.push(`the same document: Gateway-Trace was "${other.trace}"`)
  return wrong
}

export const FLOODS: readonly Flood[] = [
  {
    name: '20,000 different documents',
    run: (of) => floodWithDocuments(of, 20_000, (index) => `query Q${index} { me { email } }`),
  },
  {
    name: '20,000 different documents, each asked twice',
    run: (of) => floodWithDocuments(of, 40_000, (index) => `query Q${index >> 1} { me { email projects { name } } }`),
  },
  {
    name: '500 different documents of 55 aliases',
    run: (of) =>
      floodWithDocuments(
        of,
        500,
        (index) =>
          `query Q${index} { me { ${times(55, (alias) => `a${alias}: project(ref: "p${alias}") { ref name tags }`)} } }`,
      ),
  },
  {
    name: '5,000 different documents that are invalid',
    run: (of) => floodWithDocuments(of, 5_000, (index) => `{ nothing${index} }`),
  },
  {
    name: '450 large documents, anonymous',
    async run({ gateway }) {
      const one = 'projects { ref name description framework tags latestExport { digest elements { name path } } }'
      for (let index = 0; index < 450 && gateway.isAlive(); index += 1) {
        await gateway.send(documentRequest(`query Q${index} { me { ${times(55, (alias) => `a${alias}: ${one}`)} } }`))
      }
      return []
    },
  },
  {
    name: '8 at once of the largest that is allowed',
    async run({ gateway, attacker }) {
      const all = documentRequest('{ me { projects { exports { data } } } }')
      const sent = await Promise.all(Array.from({ length: 8 }, () => gateway.send(all, attacker)))
      return sent
        .map(({ outcome }) => outcome)
        .filter((outcome) => !/^200$|^503 UNAVAILABLE$|RESPONSE_TOO_LARGE/.test(outcome))
    },
  },
  {
    name: 'pipelined requests whose answers nobody reads',
    async run({ gateway }) {
      const { hostname, port } = new URL(gateway.url)
      const requests = 'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(PIPELINED)
      const sockets = Array.from({ length: PIPELINING_CONNECTIONS }, () => {
        const socket = connect(Number(port), hostname)
        socket.pause().on('error', () => {})
        socket.write(requests)
        return socket
      })
      await delay(UNREAD_MS)
      for (const socket of sockets) socket.destroy()
      return []
    },
  },
]
