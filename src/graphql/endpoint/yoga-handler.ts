// GraphQL over HTTP (https://graphql.github.io/graphql-over-http/draft/) in full, by Yoga, answers in our words.
import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  getOperationAST,
  OperationTypeNode,
} from 'graphql'
import { createYoga, type Plugin, type YogaInitialContext } from 'graphql-yoga'
import { statusOf } from '../../errors.ts'
import { viewerOf } from '../../http/bearer.ts'
import { failureHeaders, type ReportFailure, toFailure, toGraphQLError } from '../../http/problem-details.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { type GatewayResponse, GRAPHQL_HEADERS } from '../../http/response.ts'
import { type Context, createContext } from '../../resolvers/context.ts'
import { stringifyResult } from '../../resolvers/documents/raw-json.ts'
import type { EndpointServices } from '../../resolvers/services.ts'
import { parseDocument } from '../document/parse-document.ts'
import { singleSessionMutation } from '../document/single-session-mutation-rule.ts'
import { MAX_RAW_LENGTH } from './fast-path.ts'
import type { GraphQLRequest } from './request.ts'

/** The path a request is given to Yoga under; the gateway's own routing has already chosen. */
const YOGA_URL = 'http://gateway/graphql'

const YOGA_HEADERS = ['content-type', 'allow', 'www-authenticate', 'retry-after', 'ratelimit', 'ratelimit-policy']

interface ServerContext {
  readonly incoming: GatewayRequest
}

type OperationContext = ServerContext & YogaInitialContext & { readonly document?: DocumentNode }

/** Answers every request that is a GraphQL request at all, with its errors. */
export type GraphQLOverHttp = (
  request: GatewayRequest,
  accept: string,
  asked: GraphQLRequest,
) => Promise<GatewayResponse>

export function createGraphQLOverHttp(
  schema: GraphQLSchema,
  services: EndpointServices,
  report: ReportFailure,
): GraphQLOverHttp {
  const yoga = createYoga<ServerContext, Context>({
    schema,
    logging: false,
    graphiql: false,
    landingPage: false,
    cors: false,
    multipart: false,
    // Errors are masked where both dialects are, below; sizes are limited before Yoga sees a body.
    maskedErrors: false,
    maxRequestBodySize: false,
    // It would keep a thousand documents, and errors with their documents, of whoever asks.
    parserAndValidationCache: false,
    context: (operation: OperationContext) => signedInContext(operation, services),
    plugins: [executeAsSpecified, limitDocument, keepDocument, refuseSecondSession, answer(report)],
  })

  return async (request, accept, asked) => {
    const response = await yoga.fetch(toFetchRequest(request, accept, asked), { incoming: request })
    const headers: Record<string, string> = { ...GRAPHQL_HEADERS }
    // Not those that say how Yoga would have sent it (RFC 9110 section 7.6.1).
    for (const name of YOGA_HEADERS) {
      const value = response.headers.get(name)
      if (value !== null) headers[name] = value
    }
    return { status: response.status, headers, body: new Uint8Array(await response.arrayBuffer()) }
  }
}

function toFetchRequest(request: GatewayRequest, accept: string, asked: GraphQLRequest): Request {
  const headers = { accept }
  if (request.method !== 'POST') return new Request(`${YOGA_URL}?${request.search}`, { headers })
  const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } }
  return new Request(YOGA_URL, { ...init, body: asked.source })
}

/** The reference executor: Yoga's own takes an answer with a field called `then` for a promise. */
const executeAsSpecified: Plugin = {
  onExecute({ setExecuteFn }) {
    setExecuteFn(execute)
  },
}

const limitDocument: Plugin = {
  onParse({ setParseFn }) {
    setParseFn(parseDocument)
  },
}

const refuseSecondSession: Plugin = {
  onValidate({ addValidationRule }) {
    addValidationRule(singleSessionMutation)
  },
}

/** The context is made before execution and needs to know what will be executed. */
const keepDocument: Plugin<OperationContext> = {
  onParse:
    () =>
    ({ result, extendContext }) => {
      if (result !== null && !(result instanceof Error)) extendContext({ document: result })
    },
}

/** The session mutations do not look at the access token, as in REST: a client renews an expired one with it attached. */
async function signedInContext(
  { incoming, document, params }: OperationContext,
  services: EndpointServices,
): Promise<Context> {
  const operation = document && getOperationAST(document, params.operationName)
  const viewer = operation?.operation === OperationTypeNode.QUERY ? await viewerOf(incoming, services.sessions) : null
  return createContext(services, incoming, viewer)
}

/**
 * Every result leaves through here: errors in the words of the table, stored text spliced in. When nothing was answered
 * (no data, or null) the status is the failure's own; a partial answer is 200.
 */
function answer(report: ReportFailure): Plugin {
  return {
    onResultProcess({ result, setResult }) {
      const { data, errors = [] } = result as ExecutionResult
      const failures = errors.map(toFailure)
      let dataText = ''
      try {
        dataText = data === undefined ? '' : stringifyResult(data, MAX_RAW_LENGTH)
      } catch (error) {
        failures.push(toFailure(error))
      }
      const [first] = failures
      const isPartial = dataText !== '' && dataText !== 'null'
      setResult({
        ...(dataText === '' ? {} : { data }),
        ...(first ? { errors: failures.map((failure) => toGraphQLError(failure, report)) } : {}),
        ...(first?.error && !isPartial
          ? { extensions: { http: { status: statusOf(first.error.code), headers: failureHeaders(first.error) } } }
          : {}),
        stringify: (shown: ExecutionResult) => joinResult(shown.errors, dataText),
      })
    },
  }
}

function joinResult(errors: ExecutionResult['errors'], dataText: string): string {
  const members = [
    ...(errors ? [`"errors":${JSON.stringify(errors)}`] : []),
    ...(dataText === '' ? [] : [`"data":${dataText}`]),
  ]
  return `{${members.join(',')}}`
}
