// Registered clients, back ends that sign their users in, as the store keeps them.

export interface StoredClient {
  /** What the operator calls it; the user-id of its credentials. */
  readonly name: string
  /** SHA-256 of the secret, base64url. */
  readonly secretHash: string
  /** Canonical domains whose addresses it may sign in. Never empty; `*` for every domain. */
  readonly domains: readonly string[]
  readonly scopes: readonly string[]
  /** Logins a minute. */
  readonly perMinute: number
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

export interface ClientVerbs {
  /** False, and nothing changed, when there is one of this name. */
  readonly addClient: (client: StoredClient) => Promise<boolean>
  /** All, in order of name. */
  readonly clients: () => Promise<readonly StoredClient[]>
  readonly clientByName: (name: string) => Promise<StoredClient | null>
  /** False when there is none. */
  readonly removeClient: (name: string) => Promise<boolean>
}
