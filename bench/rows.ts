// The rows of the benchmark and their goals: ratios within one run, because machines are shared and noisy.
import type { LoadRequest } from './load.ts'

export type ServerName = 'gateway' | 'gateway without cache' | 'bare' | 'fastify' | 'mercurius' | 'apollo' | 'yoga'

export interface Goal {
  readonly against: ServerName
  /** The subject's requests per second, as a multiple of the other's. */
  readonly atLeast: number
}

export interface Row {
  readonly name: string
  /** The server whose ratios the goals are about. */
  readonly subject: ServerName
  readonly servers: readonly ServerName[]
  readonly goals: readonly Goal[]
  /** `etag` is the one of the first token's answer. */
  readonly request: (accessToken: string, etag: string) => LoadRequest
}

const LIST = '{ me { projects { id ref name description framework tags createdAt updatedAt } } }'
const NESTED = '{ me { projects { latestExport { createdAt } } templates { id name } uiLibraries { id name } } }'

function get(path: string) {
  return (token: string): LoadRequest => ({ method: 'GET', path, headers: { authorization: `Bearer ${token}` } })
}

function post(query: string) {
  const body = JSON.stringify({ query })
  return (token: string): LoadRequest => ({
    method: 'POST',
    path: '/graphql',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body,
  })
}

export const ROWS: readonly Row[] = [
  {
    name: 'rest-warm',
    subject: 'gateway',
    servers: ['bare', 'gateway', 'fastify'],
    goals: [{ against: 'bare', atLeast: 0.8 }],
    request: get('/projects'),
  },
  {
    name: 'rest-uncached',
    subject: 'gateway without cache',
    servers: ['bare', 'gateway without cache', 'fastify'],
    goals: [{ against: 'fastify', atLeast: 2 }],
    request: get('/projects'),
  },
  {
    name: 'rest-not-modified',
    subject: 'gateway',
    servers: ['bare', 'gateway'],
    goals: [{ against: 'bare', atLeast: 0.85 }],
    request: (token) => ({
      ...get('/projects')(token),
      headers: { authorization: `Bearer ${token}`, 'if-none-match': '*' },
    }),
  },
  {
    name: 'graphql-list-warm',
    subject: 'gateway',
    servers: ['bare', 'gateway', 'mercurius', 'apollo', 'yoga'],
    goals: [
      { against: 'bare', atLeast: 0.6 },
      { against: 'mercurius', atLeast: 4 },
      { against: 'apollo', atLeast: 12 },
      { against: 'yoga', atLeast: 12 },
    ],
    request: post(LIST),
  },
  {
    name: 'graphql-list-uncached',
    subject: 'gateway without cache',
    servers: ['bare', 'gateway without cache', 'mercurius'],
    goals: [{ against: 'mercurius', atLeast: 1.1 }],
    request: post(LIST),
  },
  {
    name: 'graphql-nested-uncached',
    subject: 'gateway without cache',
    servers: ['bare', 'gateway without cache', 'mercurius'],
    goals: [{ against: 'mercurius', atLeast: 1.1 }],
    request: post(NESTED),
  },
]
