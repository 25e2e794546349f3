// The plans that are kept with a document: those that were used last, within the room that the document has for them.
import type { GraphQLSchema, VariableValues } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { PlanRoom, PreparedOperation } from '../../document/prepared-document.ts'
import { completeOf } from '../complete.ts'
import { conditionsKey, conditionValues, conditionVariables, createPlan, type OperationPlan } from './plan.ts'
import { createMembersOf } from './type-members.ts'

/** With what calls its resolver and writes its value, and with its part of a selection. Measured: 970 to 1,280. */
const BYTES_PER_FIELD = 1_280
/** With what is known of its operation. Measured: 3,800 for one with a single field. */
const BYTES_PER_PLAN = 4_096
/** Of a variable that a condition uses, with its value. */
const BYTES_PER_VARIABLE = 256

export type PlanFor = (operation: PreparedOperation, variables: VariableValues) => OperationPlan

/** An object of its own for each size: that is how `lru-cache` takes another size for a key. */
interface Kept {
  readonly plan: OperationPlan
}

/** What is known of an operation, for as long as its document is kept. */
interface Known {
  readonly conditionVariables: readonly string[]
  /** Its name, which no other operation of the document has. */
  readonly prefix: string
  /** Of all operations of the document, by operation and the values of those variables. */
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

    /** Parts of a plan are made when they are first run: it grows. */
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
