// Opens a keyset on the store of a gateway, as another gateway would.
import type { Audit } from '../../src/auth/audit/audit-event.ts'
import { createKeyCipher } from '../../src/auth/tokens/key-cipher.ts'
import { type Keyset, type KeysetOptions, openKeyset } from '../../src/auth/tokens/keyset.ts'
import type { Store } from '../../src/store/contract.ts'

/** An audit log that records nothing. */
export const NO_AUDIT: Audit = { record() {} }

export function openTestKeyset(
  { store, now }: { readonly store: Store; readonly now: () => number },
  options: Partial<KeysetOptions> = {},
): Promise<Keyset> {
  return openKeyset(store, {
    clock: now,
    cipher: createKeyCipher([]),
    algorithm: null,
    audit: NO_AUDIT,
    sessionCheckMs: null,
    running: new AsyncDisposableStack(),
    onUnreadable(error) {
      throw error
    },
    ...options,
  })
}
