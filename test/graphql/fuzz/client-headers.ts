// The headers that real clients send, as seen in their requests, and the media type that each must be answered in.

export interface ClientHeaders {
  readonly name: string
  readonly accept: string | undefined
  readonly acceptEncoding: string | undefined
  readonly mediaType: 'application/json' | 'application/graphql-response+json'
  /** Whether a GET with these headers asks for the GraphiQL page. */
  readonly isPage?: boolean
}

const JSON_TYPE = 'application/json'
const GRAPHQL_TYPE = 'application/graphql-response+json'

export const CLIENTS: readonly ClientHeaders[] = [
  {
    name: 'Apollo Client 4 in a browser',
    accept: 'application/graphql-response+json,application/json;q=0.9',
    acceptEncoding: 'gzip, deflate, br, zstd',
    mediaType: GRAPHQL_TYPE,
  },
  {
    name: 'Apollo Client 3',
    accept: 'application/graphql-response+json,application/json;q=0.9,*/*;q=0.1',
    acceptEncoding: 'gzip, deflate, br',
    mediaType: GRAPHQL_TYPE,
  },
  {
    name: 'urql',
    accept:
      'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
    acceptEncoding: 'gzip, deflate, br, zstd',
    mediaType: GRAPHQL_TYPE,
  },
  {
    name: 'graphql-request 7',
    accept: 'application/graphql-response+json, application/json',
    acceptEncoding: 'gzip, deflate',
    mediaType: GRAPHQL_TYPE,
  },
  {
    name: "Relay's network layer as its guide has it",
    accept: 'application/graphql-response+json; charset=utf-8, application/json; charset=utf-8',
    acceptEncoding: 'gzip, deflate, br, zstd',
    mediaType: GRAPHQL_TYPE,
  },
  {
    name: 'axios',
    accept: 'application/json, text/plain, */*',
    acceptEncoding: 'gzip, compress, deflate, br',
    mediaType: JSON_TYPE,
  },
  { name: 'got', accept: 'application/json', acceptEncoding: 'gzip, deflate, br, zstd', mediaType: JSON_TYPE },
  { name: 'ky', accept: 'application/json', acceptEncoding: 'gzip, deflate', mediaType: JSON_TYPE },
  { name: 'fetch of Node', accept: '*/*', acceptEncoding: 'gzip, deflate', mediaType: JSON_TYPE },
  {
    name: 'GraphiQL',
    accept: 'application/json, multipart/mixed',
    acceptEncoding: 'gzip, deflate, br, zstd',
    mediaType: JSON_TYPE,
  },
  { name: 'curl', accept: '*/*', acceptEncoding: undefined, mediaType: JSON_TYPE },
  { name: 'no Accept at all', accept: undefined, acceptEncoding: undefined, mediaType: JSON_TYPE },
  {
    name: "a browser's address bar",
    accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
    acceptEncoding: 'gzip, deflate, br, zstd',
    mediaType: JSON_TYPE,
    isPage: true,
  },
  {
    name: 'one that would rather have JSON',
    accept: 'application/graphql-response+json;q=0.5, application/json',
    acceptEncoding: 'br;q=0.5, gzip;q=0.4, identity;q=0.1',
    mediaType: JSON_TYPE,
  },
]
