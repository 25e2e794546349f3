// Defines what the checks from inside share: the configuration, and what was found about the database and its keys.
import type { SigningKey } from '../../../auth/tokens/signing-key.ts'
import type { Inspection } from '../../../store/inspection/inspection.ts'
import type { DoctorConfig } from '../doctor-options.ts'
import type { RecommendCommand } from '../recommended-command.ts'

/** A value, or the error that occurred while getting it, or the reason for not trying. */
export type Found<T> = T | NotUsable | { readonly reason: string }

export interface NotUsable {
  readonly error: string
  /** The command that fixes it, if there is one. */
  readonly run?: string
  /** The option of the gateway that fixes it, if it is known. */
  readonly gateway?: string
  /** Whether the database could not be opened, rather than its keys. */
  readonly isOfDatabase?: boolean
}

export interface StoredKeys {
  /** Newest first. */
  readonly keys: readonly SigningKey[]
  readonly areAllSealed: boolean
}

export interface Inside {
  readonly config: DoctorConfig
  /** For variables that other standards define, such as `OTEL_…`. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly database: Found<Inspection>
  readonly keys: Found<StoredKeys>
  readonly recommend: RecommendCommand
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

export function isFound<T extends object>(found: Found<T>): found is T {
  return !('error' in found) && !('reason' in found)
}
