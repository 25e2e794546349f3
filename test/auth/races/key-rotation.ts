// Rotates signing keys while several gateways serve. No request may fail, whichever gateway issued its token.
import { type Client, createClient, readSession, type Session } from '../../support/client.ts'
import { ANA, documentLine } from '../../support/workspaces.ts'

/** One in this many requests is a login or a refresh; the others are reads. */
const CYCLE = 10

export interface KeyRotationOptions {
  /** The gateways, all on one database that holds `ROTATION_WORKSPACE`. */
  readonly urls: readonly string[]
  readonly rotations: number
  readonly concurrency: number
  /** How many requests to await between two rotations, besides the first token that the new key has signed. */
  readonly requestsPerRotation: number
  /** Runs `keys rotate` on the same database. */
  readonly rotate: () => Promise<void>
}

export interface KeyRotationReport {
  readonly requests: number
  /** The status and text of every answer other than 200. */
  readonly failures: readonly string[]
  /** How many keys signed tokens. */
  readonly kids: number
}

export const ROTATION_WORKSPACE = documentLine('project', ANA, '{"id":"p"}')

export async function runKeyRotation(options: KeyRotationOptions): Promise<KeyRotationReport> {
  const { urls, rotations, concurrency, requestsPerRotation, rotate } = options
  const clients = urls.map((url) => createClient(url, { connections: concurrency }))
  const failures: string[] = []
  const kids = new Set<string>()
  let requests = 0
  let isOver = false
  let reached = Promise.withResolvers<void>()
  let target = { requests: requestsPerRotation, kids: 1 }

  const any = (): Client => {
    const client = clients[Math.floor(Math.random() * clients.length)]
    if (!client) throw new Error('there is no gateway')
    return client
  }

  async function count(asking: ReturnType<Client['login']>) {
    const answer = await asking
    requests += 1
    if (answer.status !== 200) failures.push(`${answer.status} ${answer.text}`)
    return answer
  }

  function note({ accessToken }: Session): void {
    kids.add(JSON.parse(Buffer.from(accessToken.split('.')[0] ?? '', 'base64url').toString()).kid)
    if (requests >= target.requests && kids.size >= target.kids) reached.resolve()
  }

  /** Uses what one gateway answered with all the others. */
  async function work(): Promise<void> {
    let session = readSession(await count(any().login(ANA)))
    for (let step = 0; !isOver; step += 1) {
      if (step % (CYCLE * 5) === 0) {
        session = readSession(await count(any().login(ANA)))
      } else if (step % CYCLE === 1) {
        const { refreshToken } = session
        const { accessToken } = JSON.parse((await count(any().refresh(refreshToken))).text)
        session = { accessToken, refreshToken }
      } else {
        await count(any().get('/projects', session.accessToken))
      }
      note(session)
    }
  }

  try {
    const working = Promise.all(Array.from({ length: concurrency }, work))
    for (let rotation = 0; rotation <= rotations; rotation += 1) {
      if (rotation > 0) await rotate()
      reached = Promise.withResolvers()
      target = { requests: requests + requestsPerRotation, kids: rotation + 1 }
      await Promise.race([reached.promise, working])
    }
    isOver = true
    await working
    return { requests, failures, kids: kids.size }
  } finally {
    isOver = true
    for (const client of clients) client[Symbol.dispose]()
  }
}
