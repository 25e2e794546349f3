// Sends single requests outside the load.
import { fillIn, type LoadRequest } from '../load/plan.ts'

/** Asks for the identity coding, because `fetch` asks for compression by default. */
export function ask(url: string, request: LoadRequest, values: Readonly<Record<string, string>>): Promise<Response> {
  const { method, path, headers, body } = fillIn(request, values)
  const plain = { ...headers, 'accept-encoding': 'identity' }
  return fetch(`${url}${path}`, { method, headers: plain, ...(body === undefined ? {} : { body }) })
}
