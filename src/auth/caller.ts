// The sender of a request, as far as it is known before authentication.

/** The other end of the connection, as the kernel knows it. */
export interface Peer {
  /** An IP address; empty when the connection is gone already. */
  readonly address: string
  readonly port: number
  /** This end of the connection. */
  readonly localAddress: string
  readonly localPort: number
  /** Whether the operator lists this address as a proxy. */
  readonly isTrustedProxy: boolean
  /** Whether what its requests say of others is of such a proxy: not where a PROXY header names a client, whose requests they are. */
  readonly mayForward: boolean
  /** Whether the connection began with a PROXY header that names the client. */
  readonly hasNamedClient?: boolean
}

/** The client itself: the peer, or the client that the peer forwards for when it is a trusted proxy. */
export interface Client {
  /** An IP address. */
  readonly address: string
  readonly scheme: 'http' | 'https'
  /** Host and port as the client asked for them; empty when it did not say. Not checked: a direct client writes what it likes. */
  readonly host: string
}

export interface Caller {
  readonly peer: Peer
  readonly client: Client
  /** Of the request as it arrived here. */
  readonly httpVersion: '1.0' | '1.1'
  /** A request header by its lower-case name. */
  readonly header: (name: string) => string | undefined
}
