// Sends random documents to a gateway, with the headers of every client, and compares each answer with the oracle's.
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import { parse, validate } from 'graphql'
import { createSeededRandom } from '../../support/seeded-random.ts'
import { breakOperation } from './broken.ts'
import { CLIENTS, type ClientHeaders } from './client-headers.ts'
import { createDocumentGenerator } from './document-generator.ts'
import { learnNames } from './learn.ts'
import { createModel, type Model, type ModelUser } from './model.ts'
import { createOracle, type Expected, type Operation, type Oracle, requireSameResponse, statusesOf } from './oracle.ts'

export interface FuzzOptions {
  /** The URL of a gateway that holds the model's workspaces and lets this machine sign in. */
  readonly url: string
  readonly seed: number
  readonly count: number
  /** Stops after this many differences. */
  readonly stopAfter?: number
  readonly clients?: readonly ClientHeaders[]
  readonly onProgress?: (sent: number, differences: number) => void
}

export interface Difference {
  /** The seed that makes the document again. */
  readonly seed: number
  readonly reason: string
  readonly request: string
}

export interface FuzzReport {
  readonly sent: number
  readonly differences: readonly Difference[]
  /** How often each happened: a fuzz run that tries nothing finds nothing. */
  readonly tried: Readonly<
    Record<'data' | 'failing' | 'refused' | 'broken' | 'again' | 'compressed' | 'fragments' | 'directives', number>
  >
}

const IN_FLIGHT = 8
/** Longer requests are sent by POST. */
const MAX_URL_LENGTH = 6_000
const MAX_DIFFERENCES = 20

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gunzipSync(bytes),
  deflate: (bytes) => inflateSync(bytes),
  br: (bytes) => brotliDecompressSync(bytes),
  zstd: (bytes) => zstdDecompressSync(bytes),
}

interface Sent {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string | null
}

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export async function runFuzz(options: FuzzOptions): Promise<FuzzReport> {
  const { seed, count, clients = CLIENTS, stopAfter = MAX_DIFFERENCES } = options
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT })
  const oracle = createOracle()
  const generateDocument = createDocumentGenerator(oracle.schema)
  const model = createModel()
  const tried = { data: 0, failing: 0, refused: 0, broken: 0, again: 0, compressed: 0, fragments: 0, directives: 0 }
  const differences: Difference[] = []
  let next = 0

  const send = (sent: Sent) => exchange(options.url, sent, agent)
  const tokens = await signInAll(send, model)
  await learnNames(model.users, oracle.hasGlobalIds, async (document, viewer) => {
    const plain = toRequest(
      { document, operationName: undefined, variables: {}, isBroken: false },
      firstOf(clients),
      tokens.get(viewer),
      false,
    )
    return (await send(plain)).text
  })

  async function tryOne(own: number): Promise<void> {
    const random = createSeededRandom(own)
    const { below } = random
    const [ana, ben, cyd] = model.users
    const roll = below(100)
    const viewer = (roll < 78 ? ana : roll < 88 ? ben : roll < 92 ? cyd : null) ?? null
    const client = clients[below(clients.length)] ?? firstOf(clients)
    const generated = generateDocument(viewer, own)
    const isGet = below(4) === 0
    const isAgain = below(10) === 0
    const operation = below(6) === 0 ? breakOperation(generated, random) : generated
    // After the first request the gateway caches the document; the others must not get a wrong answer from the cache.
    const rounds = isAgain
      ? [operation, withOther(operation, below), operation, withOther(operation, below)]
      : [operation]
    for (const [round, one] of rounds.entries()) {
      const expected = oracle.answer(one, viewer)
      note(one, expected, isAgain)
      const sent = toRequest(one, client, viewer ? tokens.get(viewer) : undefined, isGet)
      const answer = await send(sent)
      if (answer.headers['content-encoding'] !== undefined) tried.compressed += 1
      try {
        requireAnswer(answer, expected, client)
      } catch (error) {
        if (!one.isBroken) requireValid(oracle, one)
        const reason = `${client.name}, time ${round + 1}: ${error instanceof Error ? error.message : error}`
        differences.push({ seed: own, reason, request: toText(sent, one) })
        return
      }
    }
  }

  function note({ document, isBroken }: Operation, { data, failures }: Expected, isAgain: boolean): void {
    if (data === undefined) tried.refused += 1
    else tried.data += 1
    if (failures.length > 0) tried.failing += 1
    if (isBroken) tried.broken += 1
    if (isAgain) tried.again += 1
    if (document.includes('...')) tried.fragments += 1
    if (document.includes('@')) tried.directives += 1
  }

  async function work(): Promise<void> {
    while (next < count && differences.length < stopAfter) {
      const index = next++
      await tryOne(seed + index)
      if (index % 1_000 === 999) options.onProgress?.(index + 1, differences.length)
    }
  }
  try {
    await Promise.all(Array.from({ length: IN_FLIGHT }, work))
  } finally {
    agent.destroy()
  }
  return { sent: next, differences, tried }
}

function firstOf(clients: readonly ClientHeaders[]): ClientHeaders {
  const [client] = clients
  if (!client) throw new Error('no client')
  return client
}

/** The same document, with other values for some of its variables. */
function withOther({ variables, ...operation }: Operation, below: (limit: number) => number): Operation {
  const other = Object.entries(variables).map(([name, value]) => {
    if (below(2) === 0) return [name, value]
    if (typeof value === 'boolean') return [name, !value]
    return [name, typeof value === 'number' ? below(5) : value]
  })
  return { ...operation, variables: Object.fromEntries(other) }
}

/** The gateway validates too, so this checks only documents that it answered differently. */
function requireValid(oracle: Oracle, { document }: Operation): void {
  const [mistake] = validate(oracle.schema, parse(document))
  if (mistake) throw new Error(`the generator made an invalid document: ${mistake.message}\n${document}`)
}

function requireAnswer({ status, headers, text }: Answer, expected: Expected, { mediaType }: ClientHeaders): void {
  const wanted = statusesOf(expected, mediaType).map((one) => `${one} ${mediaType}; charset=utf-8`)
  const got = `${status} ${headers['content-type']}`
  if (!wanted.includes(got)) throw new Error(`expected ${wanted.join(' or ')}, got ${got}: ${text.slice(0, 300)}`)
  requireSameResponse(expected, text)
}

function toRequest(
  { document, operationName, variables }: Operation,
  { accept, acceptEncoding, isPage = false }: ClientHeaders,
  token: string | undefined,
  isGet: boolean,
): Sent {
  const headers: Record<string, string> = {
    ...(accept === undefined ? {} : { accept }),
    ...(acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  const search = new URLSearchParams({
    query: document,
    ...(operationName === undefined ? {} : { operationName }),
    ...(Object.keys(variables).length === 0 ? {} : { variables: JSON.stringify(variables) }),
  })
  const path = `/graphql?${search}`
  if (isGet && !isPage && path.length < MAX_URL_LENGTH) return { method: 'GET', path, headers, body: null }
  const body = JSON.stringify({ query: document, operationName, variables })
  return { method: 'POST', path: '/graphql', headers: { ...headers, 'content-type': 'application/json' }, body }
}

function exchange(url: string, { method, path, headers, body }: Sent, agent: Agent): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const length = body === null ? {} : { 'content-length': Buffer.byteLength(body) }
  const outgoing = request(`${url}${path}`, { agent, method, headers: { ...headers, ...length } })
  outgoing.on('error', reject)
  outgoing.on('response', (incoming) => {
    buffer(incoming).then((bytes) => {
      const decode = DECODERS[incoming.headers['content-encoding'] ?? '']
      const text = (decode ? decode(bytes) : bytes).toString()
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text })
    }, reject)
  })
  outgoing.end(body)
  return promise
}

async function signInAll(send: (sent: Sent) => Promise<Answer>, model: Model): Promise<ReadonlyMap<ModelUser, string>> {
  const tokens = new Map<ModelUser, string>()
  for (const user of model.users) {
    const headers = { 'content-type': 'application/json' }
    const answer = await send({ method: 'POST', path: '/login', headers, body: JSON.stringify({ email: user.email }) })
    if (answer.status !== 200) throw new Error(`login was answered ${answer.status}: ${answer.text}`)
    tokens.set(user, JSON.parse(answer.text).accessToken)
  }
  return tokens
}

function toText({ method, headers }: Sent, { document, operationName, variables }: Operation): string {
  return [
    `${method} accept: ${headers.accept}`,
    document,
    `operationName ${operationName}, variables ${JSON.stringify(variables)}`,
  ].join('\n')
}
