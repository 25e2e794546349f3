// Text to a document that may be executed. Yoga runs its parser and validator, with the bounds of this gateway as plugins.
import {
  type DirectiveNode,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  type Source,
  validate,
  visit,
} from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import { type Introspection, noIntrospection } from './introspection-rule.ts'
import { type DocumentLimits, documentExcess } from './limits.ts'
import { parseDocument } from './parse-document.ts'
import { type PlanRoom, type PreparedDocument, toPreparedDocument } from './prepared-document.ts'
import { RefusedDocument } from './refused-document.ts'
import { singleSessionMutation } from './single-session-mutation-rule.ts'

/** Errors of one document that are reported at most: each may cost a walk over the schema's names. */
const MAX_VALIDATION_ERRORS = 10

/** What depends on who asks. */
export interface DocumentPolicy {
  readonly introspection: Introspection
  /** Whether messages say nothing of names that were perhaps meant. */
  readonly hideSuggestions: boolean
}

/**
 * Rules that take longer the longer a document is: some of 1 KB take 6 ms, some of 11 KB 10 ms, where a short request takes 0.1 ms and one
 * place of a turn.
 */
const LETTERS_PER_PLACE = 64

/**
 * Throws `RefusedDocument`. Costs up to some tens of milliseconds for the worst document that keeps the limits. `room` is for its plans;
 * null for a document that is not kept.
 */
export type PrepareDocument = (text: string, policy: DocumentPolicy, room: PlanRoom | null) => PreparedDocument

export function createPrepareDocument(schema: GraphQLSchema, limits: DocumentLimits): PrepareDocument {
  const yoga = createYoga<object, { readonly policy: DocumentPolicy }>({
    schema,
    // It would keep what anybody sends; what is kept here is decided by `createDocuments`.
    parserAndValidationCache: false,
    plugins: [parseWithinLimits, requireWithinLimits(limits), refuseSecondSession, hideSchema, reportFew],
  })

  return (text, policy, room) => {
    const { parse, validate: validateDocument } = yoga.getEnveloped({ policy })
    const document = parsed(text, parse)
    const errors = validateDocument(schema, document)
    if (errors.length > 0) throw new RefusedDocument(errors)
    return toPreparedDocument(document, room)
  }
}

/** Of a turn, that it takes to prepare a document. */
export function placesOf(text: string): number {
  return 1 + Math.floor(text.length / LETTERS_PER_PLACE)
}

type Context = { readonly policy: DocumentPolicy }

function parsed(text: string, parse: (text: string) => DocumentNode): DocumentNode {
  try {
    return parse(text)
  } catch (error) {
    if (error instanceof GraphQLError) throw new RefusedDocument([error])
    throw error
  }
}

const parseWithinLimits: Plugin = {
  onParse({ setParseFn }) {
    setParseFn((source: string | Source) => {
      try {
        return parseDocument(source)
      } catch (error) {
        if (error instanceof GraphQLError) error.extensions.code = 'GRAPHQL_PARSE_FAILED'
        throw error
      }
    })
  },
}

/** Before anything else walks the document: the rules take time by what fragments come to. */
function requireWithinLimits(limits: DocumentLimits): Plugin {
  return {
    onValidate({ params, setResult }) {
      const error = incrementalDelivery(params.documentAST) ?? documentExcess(params.documentAST, limits)
      if (error) setResult([error])
    },
  }
}

const refuseSecondSession: Plugin = {
  onValidate({ addValidationRule }) {
    addValidationRule(singleSessionMutation)
  },
}

const hideSchema: Plugin<Context> = {
  onValidate({ context, addValidationRule }) {
    const { introspection } = context.policy
    if (introspection !== 'allowed') addValidationRule(noIntrospection(introspection))
  },
}

const reportFew: Plugin<Context> = {
  onValidate({ context, setValidationFn }) {
    const { hideSuggestions } = context.policy
    setValidationFn((schema, document, rules) =>
      validate(schema, document, rules, { maxErrors: MAX_VALIDATION_ERRORS, hideSuggestions }),
    )
  },
}

/** Clients that ask for parts of an answer later are told so, not that a directive is unknown. */
function incrementalDelivery(document: DocumentNode): GraphQLError | null {
  let found: DirectiveNode | null = null
  visit(document, {
    Directive(directive) {
      if (directive.name.value === 'defer' || directive.name.value === 'stream') found ??= directive
    },
  })
  const directive = found as DirectiveNode | null
  return (
    directive &&
    new GraphQLError(`@${directive.name.value} is not supported: the answer comes in one piece.`, {
      nodes: directive,
      extensions: { code: 'INCREMENTAL_DELIVERY_NOT_SUPPORTED' },
    })
  )
}
