// Prepares the bytes of each request of a plan, when it is first sent and again when a value in it has changed.
import { fillIn, type LoadPlan, type LoadRequest } from './plan.ts'

export interface PlannedRequest {
  readonly bytes: Buffer
  /** Adopts values from the body of the answer. */
  readonly adopt?: (body: string) => void
}

/** Returns null when there are no more requests. */
export type NextRequest = () => PlannedRequest | null

export interface Requests {
  readonly from: (step: number) => NextRequest
  readonly eachOnce: () => NextRequest
}

export function createRequests({ requests, users, requestOf, userOf }: LoadPlan, host: string): Requests {
  const values = users.map((user) => ({ ...user }))
  const made = requests.map(() => new Map<number, PlannedRequest>())

  function requestAt(step: number): PlannedRequest {
    const [kind, user] = [requestOf[step] ?? 0, userOf[step] ?? 0]
    const known = made[kind]?.get(user)
    if (known) return known
    const request = make(kind, user)
    made[kind]?.set(user, request)
    return request
  }

  function make(kind: number, user: number): PlannedRequest {
    const request = requests[kind]
    const own = values[user]
    if (!request || !own) throw new Error('the plan names what it does not have')
    const bytes = toBytes(request, own, host)
    const { adopts } = request
    if (!adopts) return { bytes }
    return {
      bytes,
      adopt(body) {
        const answer = JSON.parse(body) as Readonly<Record<string, string>>
        for (const name of adopts) own[name] = answer[name] ?? ''
        for (const byUser of made) byUser.delete(user)
      },
    }
  }

  return {
    from(first) {
      let step = first - 1
      return () => {
        step = step + 1 === userOf.length ? 0 : step + 1
        return requestAt(step)
      }
    },
    eachOnce() {
      const steps = new Map<number, number>()
      userOf.forEach((user, step) => {
        const kind = requestOf[step] ?? 0
        if (!requests[kind]?.adopts) steps.set(user * requests.length + kind, step)
      })
      const remaining = steps.values()
      return () => {
        const { done, value } = remaining.next()
        return done ? null : requestAt(value)
      }
    },
  }
}

function toBytes(request: LoadRequest, values: Readonly<Record<string, string>>, host: string): Buffer {
  const { method, path, headers, body } = fillIn(request, values)
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ host, ...headers, ...length }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`)
}
