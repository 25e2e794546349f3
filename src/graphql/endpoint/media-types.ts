// The two media types of a GraphQL response (GraphQL over HTTP, section 4.1).

export const JSON_RESPONSE = 'application/json'
export const GRAPHQL_RESPONSE = 'application/graphql-response+json'

/** `JSON_RESPONSE` comes first, for clients without an `Accept` header: they predate the other media type. */
export const RESPONSE_TYPES = [JSON_RESPONSE, GRAPHQL_RESPONSE] as const

export type ResponseType = (typeof RESPONSE_TYPES)[number]
