// Makes callers as plain values, for tests that need no connection.
import type { Caller, Client, Peer } from '../../src/auth/caller.ts'

export interface CallerParts {
  readonly peer?: Partial<Peer>
  readonly client?: Partial<Client>
  readonly httpVersion?: Caller['httpVersion']
  readonly headers?: Readonly<Record<string, string | undefined>>
}

/** A caller that connects directly from this machine, unless the parts say otherwise. */
export function callerWith({ peer, client, httpVersion = '1.1', headers = {} }: CallerParts = {}): Caller {
  const address = peer?.address ?? '127.0.0.1'
  return {
    peer: {
      address,
      port: 50_000,
      localAddress: '127.0.0.1',
      localPort: 4000,
      isTrustedProxy: false,
      mayForward: false,
      hasNamedClient: false,
      ...peer,
    },
    client: { address, scheme: 'http', host: headers.host ?? '', ...client },
    httpVersion,
    header: (name) => headers[name],
  }
}
