// One request outside the load, uncoded as the load asks for everything: `fetch` asks for compression by itself.
import { fillIn, type LoadRequest } from '../load/plan.ts'

export function ask(url: string, request: LoadRequest, values: Readonly<Record<string, string>>): Promise<Response> {
  const { method, path, headers, body } = fillIn(request, values)
  const plain = { ...headers, 'accept-encoding': 'identity' }
  return fetch(`${url}${path}`, { method, headers: plain, ...(body === undefined ? {} : { body }) })
}
