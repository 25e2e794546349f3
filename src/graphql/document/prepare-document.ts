// Turns a text into a document that may be executed: GraphQL Yoga parses and validates it, with the gateway's limits as a
// plugin.
import { type DirectiveNode, type DocumentNode, GraphQLError, type GraphQLSchema, validate, visit } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import { type Introspection, noIntrospection } from './introspection-rule.ts'
import { type DocumentLimits, documentExcess } from './limits.ts'
import { parseDocument } from './parse-document.ts'
import { type PlanRoom, type PreparedDocument, toPreparedDocument } from './prepared-document.ts'
import { RefusedDocument } from './refused-document.ts'
import { tooManyRepetitions } from './repeated-fields.ts'
import { singleSessionMutation } from './single-session-mutation-rule.ts'

/** Maximum number of errors reported per document: each may cost a walk over the names of the schema. */
const MAX_VALIDATION_ERRORS = 10
/** The whole message of graphql-js for a document with too many pairs of fields to compare. */
const ABORTED = 'Validation aborted.'

/** The part of validation that depends on the caller. */
export interface DocumentPolicy {
  readonly introspection: Introspection
  /** Whether messages leave out suggestions (`Did you mean …`). */
  readonly hideSuggestions: boolean
}

/**
 * Places in a turn of the event loop that the shortest document costs. Preparing one takes 0.5 ms in a process that
 * has just started and 0.1 ms later, and then it is executed, while a short request takes 0.1 ms and one place.
 */
const PLACES = 4
/**
 * Characters of a document that cost one more place. Validation takes longer for longer documents: some of 1 KB take 6
 * ms and some of 11 KB take 10 ms.
 */
const LETTERS_PER_PLACE = 64

/**
 * Throws `RefusedDocument`. Takes up to some tens of milliseconds for the worst document within the limits. `room`
 * bounds the plans that are cached with the document; it is null for a document that is not cached.
 */
export type PrepareDocument = (text: string, policy: DocumentPolicy, room: PlanRoom | null) => PreparedDocument

export function createPrepareDocument(schema: GraphQLSchema, limits: DocumentLimits): PrepareDocument {
  const yoga = createYoga<object, { readonly policy: DocumentPolicy }>({
    schema,
    // Yoga would cache the documents of every client. `createDocuments` decides what is cached here.
    parserAndValidationCache: false,
    plugins: [withinLimits(limits)],
  })

  return (text, policy, room) => {
    const { parse, validate: validateDocument } = yoga.getEnveloped({ policy })
    const document = parsed(text, parse)
    const errors = validateDocument(schema, document)
    if (errors.length > 0) throw new RefusedDocument(errors)
    return toPreparedDocument(document, room)
  }
}

/** Places in a turn of the event loop that preparing this document takes. */
export function placesOf(text: string): number {
  return PLACES + Math.floor(text.length / LETTERS_PER_PLACE)
}

function parsed(text: string, parse: (text: string) => DocumentNode): DocumentNode {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    error.extensions.code = 'GRAPHQL_PARSE_FAILED'
    throw new RefusedDocument([error])
  }
}

function withinLimits(limits: DocumentLimits): Plugin<{ readonly policy: DocumentPolicy }> {
  return {
    onParse({ setParseFn }) {
      setParseFn(parseDocument)
    },
    onValidate({ params, context, setResult, addValidationRule, setValidationFn }) {
      // Before any rule walks the document, because the time of the rules grows with the expanded fragments.
      const error = incrementalDelivery(params.documentAST) ?? documentExcess(params.documentAST, limits)
      if (error) return setResult([error])
      const { introspection, hideSuggestions } = context.policy
      addValidationRule(singleSessionMutation)
      if (introspection !== 'allowed') addValidationRule(noIntrospection(introspection))
      setValidationFn((schema, document, rules) =>
        validate(schema, document, rules, { maxErrors: MAX_VALIDATION_ERRORS, hideSuggestions }).map((error) =>
          error.message === ABORTED ? tooManyRepetitions(document.definitions.slice(0, 1)) : error,
        ),
      )
    },
  }
}

/** Tells clients that incremental delivery is not supported, instead of that `@defer` or `@stream` is unknown. */
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
