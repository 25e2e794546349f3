// Requests for a sign-in code: stored on arrival and decided later, so that the response reveals nothing about the
// address.
import { batchPerTurn } from '../../store/batch-per-turn.ts'
import type { Store } from '../../store/contract.ts'
import type { CodeRequest, CodeRules, DecidedRequest } from '../../store/sign-in/code-contract.ts'
import type { Audit } from '../audit/audit-event.ts'
import { createTimeOrderedIds } from '../time-ordered-ids.ts'
import { auditedAsker } from './audited-asker.ts'
import type { DerivedCodes } from './derived-codes.ts'

const DECIDED_AT_ONCE = 500

export interface RequestOptions {
  readonly store: Pick<Store, 'addCodeRequests' | 'decideCodeRequests'>
  readonly codes: DerivedCodes
  readonly rules: CodeRules
  /** Canonical email domains that may get mails; null for all. */
  readonly domains: ReadonlySet<string> | null
  readonly audit: Audit
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

export interface CodeRequests {
  /** Stores a request. Durable when it resolves. Does the same work for every address. */
  readonly add: (request: Pick<CodeRequest, 'email' | 'network' | 'agent'>) => Promise<void>
  /** Decides all stored requests. Returns true if there are mails to send. */
  readonly decide: () => Promise<boolean>
}

export function createCodeRequests({ store, codes, rules, domains, audit, clock }: RequestOptions): CodeRequests {
  const nextId = createTimeOrderedIds()
  const keep = batchPerTurn<CodeRequest, null>(async (requests) => {
    await store.addCodeRequests(requests)
    return requests.map(() => null)
  }, setImmediate)

  function tell({ email, network, outcome }: DecidedRequest): void {
    const result = outcome === 'refused' ? 'refused' : 'done'
    const about = auditedAsker(email, network)
    audit.record({ kind: 'codeRequest', result, ...about, detail: outcome })
  }

  return {
    async add({ email, network, agent }) {
      const askedAt = clock()
      const id = nextId(askedAt)
      const { kid, codeHash } = await codes.issue(id)
      const isEligible = domains === null || domains.has(email.slice(email.lastIndexOf('@') + 1))
      await keep({ id, email, network, agent, kid, codeHash, isEligible, askedAt })
    },
    async decide() {
      let hasMails = false
      for (;;) {
        const decided = await store.decideCodeRequests(rules, clock(), DECIDED_AT_ONCE)
        for (const request of decided) {
          tell(request)
          if (request.outcome === 'mailed') hasMails = true
        }
        if (decided.length < DECIDED_AT_ONCE) return hasMails
      }
    },
  }
}
