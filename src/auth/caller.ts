// Describes the sender of a request, as far as it is known before authentication.

/** The other end of the connection, as reported by the kernel. */
export interface Peer {
  /** An IP address; empty if the connection is already closed. */
  readonly address: string
  readonly port: number
  /** Address of this end of the connection. */
  readonly localAddress: string
  readonly localPort: number
  /** Whether the operator lists this address as a proxy. */
  readonly isTrustedProxy: boolean
  /**
   * Whether the forwarding headers of its requests can be trusted. Without a PROXY header: whether the peer is a
   * trusted proxy. With one, the requests are those of the client that it names: whether that client is a trusted
   * proxy; false if it names none.
   */
  readonly mayForward: boolean
  /** Whether the connection began with a PROXY header that names the client. */
  readonly hasNamedClient: boolean
}

/** The client: the peer itself, or the client that a trusted proxy forwards for. */
export interface Client {
  /** An IP address. */
  readonly address: string
  readonly scheme: 'http' | 'https'
  /** Host and port that the client asked for; empty if unknown. Not validated: a direct client can send anything. */
  readonly host: string
}

export interface Caller {
  readonly peer: Peer
  readonly client: Client
  /** HTTP version of the request as it arrived here. */
  readonly httpVersion: '1.0' | '1.1'
  /** The value of a request header, by its name in lower case. */
  readonly header: (name: string) => string | undefined
}
