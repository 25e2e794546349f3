// What the contract suites put into a store.
import { randomUUID } from 'node:crypto'
import type { Change, NewSession } from '../../src/store/contract.ts'
import type { CodeRules } from '../../src/store/sign-in/code-contract.ts'

export const NOW = 1_800_000_000_000
export const ANA = 'ana@example.com'
export const BEN = 'ben@example.com'
export const MADE = { createdAt: '2026-01-01T00:00:00Z', instant: '2026-01-01T00:00:00.000000000Z' }

/** One code a second, for everybody together. */
export const CODE_RULES: CodeRules = {
  windowMs: 1_000,
  codeTtlMs: 1_000,
  knownNetworkTtlMs: 1_000,
  isForKnownUsersOnly: false,
  maxPerAddressAndNetwork: 1,
  maxPerAddress: 1,
  maxPerNetwork: 1,
  maxTotal: 1,
}

export function put(change: Partial<Extract<Change, { type: 'putDocument' }>> = {}): Change {
  return { type: 'putDocument', email: ANA, kind: 'project', id: 'p', ref: 'r', text: '{"id":"p"}', ...change }
}

export function newSession(session: Partial<NewSession> = {}): NewSession {
  return {
    id: randomUUID(),
    email: ANA,
    refreshHash: hash(),
    createdAt: NOW,
    lastUsedAt: NOW,
    idleExpiresAt: NOW + 1_000,
    expiresAt: NOW + 2_000,
    userAgent: 'curl/8.0',
    network: '192.0.2.0/24',
    client: 'shop',
    ...session,
  }
}

export function hash(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(32))
}
