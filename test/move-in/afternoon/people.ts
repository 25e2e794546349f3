// Readers who follow the contract, whoever answers: on 401 they renew their token, or sign in again if that fails.
import { setTimeout as delay } from 'node:timers/promises'
import { createClient, readSession } from '../../support/client.ts'
import type { SeededRandom } from '../../support/seeded-random.ts'
import { LARGE, LISTS, refOf } from './old-world.ts'

/** The name of the readers in the ledger. */
export const READER = { name: 'reader', headers: { 'graphql-client-name': 'reader' } }
/** The pause between two reads of a person, because the servers run on the same machine. */
const PAUSE_MS = 100

export interface PeopleReport {
  readonly requests: number
  readonly signInsAgain: number
  /** A sentence for each wrong answer. */
  readonly failed: readonly string[]
}

export interface People {
  readonly report: () => PeopleReport
  /** Resolves when so many more requests were answered, or one has failed. */
  readonly readOn: (more: number) => Promise<void>
  readonly stop: () => Promise<PeopleReport>
}

/** Each person has a keep-alive connection. The caller stops them. */
export function startPeople(url: string, emails: readonly string[], count: number, random: SeededRandom): People {
  const failed: string[] = []
  let [requests, signInsAgain, isOver] = [0, 0, false]

  async function person(): Promise<void> {
    using client = createClient(url)
    const email = emails[random.below(emails.length)] ?? ''
    let session = readSession(await client.login(email))
    let ref = ''
    while (!isOver) {
      const lists = ref === '' ? LISTS : [...LISTS, `/exports?r=${encodeURIComponent(ref)}`]
      const path = lists[random.below(lists.length)] ?? ''
      let answer = await client.get(path, session.accessToken, READER.headers)
      requests += 1
      if (answer.status === 401) {
        const renewed = await client.refresh(session.refreshToken)
        if (renewed.status === 200) session = { ...session, accessToken: JSON.parse(renewed.text).accessToken }
        if (renewed.status === 401) {
          signInsAgain += 1
          session = readSession(await client.login(email))
        }
        answer = await client.get(path, session.accessToken, READER.headers)
      }
      // A project without an export is answered 404.
      const isNone = answer.status === 404 && !LISTS.includes(path)
      if (answer.status !== 200 && !isNone) failed.push(`GET ${path} of a user answered ${answer.status}`)
      else if (!isNone) ref = nextRef(path, JSON.parse(answer.text), ref)
      await delay(PAUSE_MS)
    }
  }

  function nextRef(path: string, documents: readonly object[], ref: string): string {
    if (!Array.isArray(documents)) failed.push(`GET ${path} answered no array`)
    if (path !== '/projects' || documents.length === 0) return ref
    const found = refOf(JSON.stringify(documents[random.below(documents.length)]))
    return found === LARGE ? ref : found
  }

  const people = Promise.all(
    Array.from({ length: count }, () =>
      person().catch((error: unknown) => {
        failed.push(String(error))
      }),
    ),
  )
  const report = () => ({ requests, signInsAgain, failed })
  return {
    report,
    async readOn(more) {
      const until = requests + more
      while (requests < until && failed.length === 0) await delay(20)
    },
    async stop() {
      isOver = true
      await people
      return report()
    },
  }
}
