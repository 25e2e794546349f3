// The part of the store contract that covers registered clients: back ends that sign their users in.

export interface StoredClient {
  /** Chosen by the operator; the user-id of the client's credentials. */
  readonly name: string
  /** SHA-256 of the secret, in base64url. */
  readonly secretHash: string
  /** Canonical email domains for which the client may sign users in. Never empty; `*` stands for every domain. */
  readonly domains: readonly string[]
  readonly scopes: readonly string[]
  /** Maximum number of logins per minute. */
  readonly perMinute: number
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** A client as it is stored: the items of a list are separated by commas. */
export type ClientRow = Omit<StoredClient, 'domains' | 'scopes'> & { readonly domains: string; readonly scopes: string }

export function toClient({ domains, scopes, ...row }: ClientRow): StoredClient {
  return { ...row, domains: domains.split(','), scopes: scopes.split(',') }
}

export interface ClientVerbs {
  /** False, with nothing changed, if a client with this name exists. */
  readonly addClient: (client: StoredClient) => Promise<boolean>
  /** All clients in order of name. */
  readonly clients: () => Promise<readonly StoredClient[]>
  readonly clientByName: (name: string) => Promise<StoredClient | null>
  /** False if there is no such client. */
  readonly removeClient: (name: string) => Promise<boolean>
}
