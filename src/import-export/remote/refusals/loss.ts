// Names what the other server shows no more, although data of it is stored here: it was removed there, or lost by a fault.
import type { DocumentKind } from '../../../store/contract.ts'
import { ContractError } from '../client.ts'

/**
 * `lists`: these lists are 404, and others are not. `emptyLists`: these lists are empty, and others are not. `exports`:
 * the projects exist, and the exports of all of them are 404. `documents`: every list exists and is empty. `workspace`:
 * every list is 404.
 */
export type LossType = 'lists' | 'emptyLists' | 'exports' | 'documents' | 'workspace'

/** Nothing was removed here. */
export class LossError extends ContractError {
  readonly type: LossType
  /** The lists of a loss of `lists` or `emptyLists`. */
  readonly kinds: readonly DocumentKind[]
  constructor(type: LossType, message: string, kinds: readonly DocumentKind[] = []) {
    super(message)
    this.type = type
    this.kinds = kinds
  }
}
