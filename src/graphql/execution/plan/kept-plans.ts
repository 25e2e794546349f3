// Caches the plans of a document: an LRU cache per document, within the memory that the document has for plans.
import type { GraphQLSchema, VariableValues } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { PlanRoom, PreparedOperation } from '../../document/prepared-document.ts'
import { completeOf } from '../complete.ts'
import { conditionsKey, conditionValues, conditionVariables, createPlan, type OperationPlan } from './plan.ts'
import { createMembersOf } from './type-members.ts'

/** Bytes per planned field, with its closures and its part of the selection. Measured: 970 to 1,280. */
const BYTES_PER_FIELD = 1_280
/** Bytes per plan, with the data about its operation. Measured: 3,800 for a plan with a single field. */
const BYTES_PER_PLAN = 4_096
/** Bytes per variable that a condition uses, with its value. */
const BYTES_PER_VARIABLE = 256

export type PlanFor = (operation: PreparedOperation, variables: VariableValues) => OperationPlan

/** A new wrapper object for each size: `lru-cache` updates the size of a key only if the value is another object. */
interface Kept {
  readonly plan: OperationPlan
}

/** Data about an operation, for as long as its document is cached. */
interface Known {
  readonly conditionVariables: readonly string[]
  /** Key prefix: the name of the operation, which is unique within the document. */
  readonly prefix: string
  /** Plans of all operations of the document, by operation and values of the condition variables. */
  readonly plans: LRUCache<string, Kept>
}

export function createPlanFor(schema: GraphQLSchema): PlanFor {
  const membersOf = createMembersOf()
  const known = new WeakMap<PreparedOperation, Known>()
  const plansOf = new WeakMap<PlanRoom, LRUCache<string, Kept>>()

  function knownOf(operation: PreparedOperation, room: PlanRoom): Known {
    const found = known.get(operation)
    if (found) return found
    const plans = plansOf.get(room) ?? new LRUCache({ maxSize: room.maxBytes })
    plansOf.set(room, plans)
    const made: Known = {
      conditionVariables: conditionVariables(operation.definition, operation.fragments),
      prefix: `${operation.definition.name?.value ?? ''} `,
      plans,
    }
    known.set(operation, made)
    return made
  }

  return (operation, variables) => {
    const { definition, fragments, room } = operation
    if (!room) {
      const decided = conditionValues(conditionVariables(definition, fragments), variables)
      return createPlan(schema, operation, decided, { completeOf, membersOf, onPlanned() {} })
    }
    const { conditionVariables: names, prefix, plans } = knownOf(operation, room)
    const key = prefix + conditionsKey(names, variables)
    const found = plans.get(key)
    if (found) return found.plan
    let byteLength = BYTES_PER_PLAN + names.length * BYTES_PER_VARIABLE + key.length

    /** Called again when the plan grows: its parts are made when they are first executed. */
    function keep(): void {
      plans.set(key, { plan }, { size: byteLength })
      room?.onResize(plans.calculatedSize)
    }

    function onPlanned(fieldCount: number, keysLength: number): void {
      byteLength += fieldCount * BYTES_PER_FIELD + keysLength
      keep()
    }

    const decided = conditionValues(names, variables)
    const plan = createPlan(schema, operation, decided, { completeOf, membersOf, onPlanned })
    keep()
    return plan
  }
}
