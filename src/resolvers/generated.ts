import type { RawJson } from './documents/raw-json.ts';
import type { ResolverFunction as ResolverFn } from './resolver-function.ts';
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { NodeRow as NodeRowRow, ExportedElement as ExportedElementRow } from './identity/node-row.ts';
import type { WorkspaceUser as WorkspaceUserRow, Context } from './context.ts';
import type { DocumentConnection as DocumentConnectionRow, ExportConnection as ExportConnectionRow, ElementConnection as ElementConnectionRow } from './pagination/connection.ts';
import type { OpenSession as OpenSessionRow } from '../auth/sessions.ts';
import type { StoredDocument as StoredDocumentRow, StoredExport as StoredExportRow } from '../store/contract.ts';
export type Maybe<T> = T | null | undefined;
export type InputMaybe<T> = T | null;
export type { ResolverFn };
export type Omit<T, K extends keyof T> = Pick<T, Exclude<keyof T, K>>;
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /**
   * Any JSON value, exactly as it was stored. The gateway copies the text into the response, instead of parsing and printing
   * it again, so large integers, `1.0`, key order, duplicate keys and escapes arrive as they were imported.
   */
  JSON: { input: RawJson; output: RawJson; }
};

/** The result of a refresh. */
export type AccessToken = {
  readonly __typename?: 'AccessToken';
  /** Send it as `Authorization: Bearer <accessToken>` with every read. */
  readonly accessToken: Scalars['String']['output'];
};

/** An immutable snapshot of one project: an ordered list of elements. */
export type Export = Node & {
  readonly __typename?: 'Export';
  /** The number of bytes of `data`. */
  readonly byteLength: Scalars['Float']['output'];
  /** When the export was made: an RFC 3339 date and time, as it was imported. */
  readonly createdAt: Scalars['String']['output'];
  /** The position of this export in the project's history, to pass as `after`. */
  readonly cursor: Scalars['String']['output'];
  /** All elements as one JSON array, unchanged: the body of `GET /exports?r=`. */
  readonly data: Scalars['JSON']['output'];
  /** SHA-256 of the bytes of `data`, in lower-case hexadecimal. */
  readonly digest: Scalars['String']['output'];
  /** The number of elements. */
  readonly elementCount: Scalars['Int']['output'];
  /** The elements in order, usually files and components. Without `first`, all of them. */
  readonly elements: ReadonlyArray<ExportElement>;
  /** The elements as a Relay connection. */
  readonly elementsConnection: ExportElementConnection;
  /** Global and opaque: the same for this export of this user in every database, for as long as its project has this `ref`. */
  readonly id: Scalars['ID']['output'];
  /** The `ref` of the exported project. */
  readonly ref: Scalars['String']['output'];
};


/** An immutable snapshot of one project: an ordered list of elements. */
export type ExportElementsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


/** An immutable snapshot of one project: an ordered list of elements. */
export type ExportElementsConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};

/** A page of a project's exports, newest first. */
export type ExportConnection = {
  readonly __typename?: 'ExportConnection';
  /** The items of the page, each with its cursor. */
  readonly edges: ReadonlyArray<ExportEdge>;
  /** The items of the page. */
  readonly nodes: ReadonlyArray<Export>;
  /** The position of the page in the list. */
  readonly pageInfo: PageInfo;
  /** The number of items in the whole list. */
  readonly totalCount: Scalars['Int']['output'];
};

/** One export of a page. */
export type ExportEdge = {
  readonly __typename?: 'ExportEdge';
  /** The position of this item in the list. */
  readonly cursor: Scalars['String']['output'];
  /** The export itself. */
  readonly node: Export;
};

/**
 * One element of an export.
 *
 * Apart from `id`, `data` and `cursor`, every field is read from the stored element. It is null if the element lacks it
 * or has a value of another type there.
 */
export type ExportElement = Node & {
  readonly __typename?: 'ExportElement';
  /** `content` of the element: the text of the file, if the element is a file. */
  readonly content?: Maybe<Scalars['String']['output']>;
  /** The position of this element in the export, to pass as `after`. */
  readonly cursor: Scalars['String']['output'];
  /** The whole stored element, unchanged. */
  readonly data: Scalars['JSON']['output'];
  /** The element's own `id`, a string or an integer with all its digits. Other elements may have the same. */
  readonly documentId?: Maybe<Scalars['ID']['output']>;
  /**
   * Global and opaque: the same for this position in this export of this user in every database. It changes with the `id`
   * of the export.
   */
  readonly id: Scalars['ID']['output'];
  /** `kind` of the element. */
  readonly kind?: Maybe<Scalars['String']['output']>;
  /** `name` of the element. */
  readonly name?: Maybe<Scalars['String']['output']>;
  /** `path` of the element, such as `src/app.tsx`. */
  readonly path?: Maybe<Scalars['String']['output']>;
  /** `type` of the element, such as `component`. */
  readonly type?: Maybe<Scalars['String']['output']>;
};

/** A page of an export's elements. */
export type ExportElementConnection = {
  readonly __typename?: 'ExportElementConnection';
  /** The items of the page, each with its cursor. */
  readonly edges: ReadonlyArray<ExportElementEdge>;
  /** The items of the page. */
  readonly nodes: ReadonlyArray<ExportElement>;
  /** The position of the page in the list. */
  readonly pageInfo: PageInfo;
  /** The number of items in the whole list. */
  readonly totalCount: Scalars['Int']['output'];
};

/** One export element of a page. */
export type ExportElementEdge = {
  readonly __typename?: 'ExportElementEdge';
  /** The position of this item in the list. */
  readonly cursor: Scalars['String']['output'];
  /** The element itself. */
  readonly node: ExportElement;
};

/**
 * Sign-in, refresh and sign-out. An operation may select at most one of these fields, once.
 * `login`, `refresh` and `logout` ignore the `Authorization: Bearer` header; `revokeSession` and `logoutEverywhere` need
 * it. If the field fails, `data` is null and the HTTP status is that of the failure, such as 401, 403 or 429.
 * A read-only gateway answers only `refresh`; the other fields are `READ_ONLY`.
 */
export type Mutation = {
  readonly __typename?: 'Mutation';
  /**
   * Opens a session for an email and returns its two tokens, like `POST /login`.
   * Errors: `INVALID_EMAIL`, `LOGIN_REFUSED` (the login guard of the gateway refused it), `TOO_MANY_REQUESTS`.
   */
  readonly login: Tokens;
  /**
   * Ends a session, like `DELETE /logout`: its refresh token and all its access tokens are refused from now on.
   * Always true. A token that is unknown, expired or already logged out is an error, `INVALID_TOKEN`.
   */
  readonly logout: Scalars['Boolean']['output'];
  /**
   * Ends all sessions of the signed-in user, including that of this request, and returns their number.
   * Errors: `UNAUTHENTICATED` (no access token), `INVALID_TOKEN`.
   */
  readonly logoutEverywhere: Scalars['Int']['output'];
  /**
   * Returns a new access token for an open session, like `POST /token`. The refresh token stays the same, and any number
   * of calls may run at once. Errors: `UNAUTHENTICATED`, `INVALID_TOKEN`, `TOO_MANY_REQUESTS`.
   */
  readonly refresh: AccessToken;
  /**
   * Ends one session of the signed-in user, which may be that of this request. Its tokens are refused from now on. False
   * if the user has no open session with this id.
   * Errors: `UNAUTHENTICATED` (no access token), `INVALID_TOKEN`.
   */
  readonly revokeSession: Scalars['Boolean']['output'];
};


/**
 * Sign-in, refresh and sign-out. An operation may select at most one of these fields, once.
 * `login`, `refresh` and `logout` ignore the `Authorization: Bearer` header; `revokeSession` and `logoutEverywhere` need
 * it. If the field fails, `data` is null and the HTTP status is that of the failure, such as 401, 403 or 429.
 * A read-only gateway answers only `refresh`; the other fields are `READ_ONLY`.
 */
export type MutationLoginArgs = {
  code?: InputMaybe<Scalars['String']['input']>;
  email: Scalars['String']['input'];
};


/**
 * Sign-in, refresh and sign-out. An operation may select at most one of these fields, once.
 * `login`, `refresh` and `logout` ignore the `Authorization: Bearer` header; `revokeSession` and `logoutEverywhere` need
 * it. If the field fails, `data` is null and the HTTP status is that of the failure, such as 401, 403 or 429.
 * A read-only gateway answers only `refresh`; the other fields are `READ_ONLY`.
 */
export type MutationLogoutArgs = {
  refreshToken: Scalars['String']['input'];
};


/**
 * Sign-in, refresh and sign-out. An operation may select at most one of these fields, once.
 * `login`, `refresh` and `logout` ignore the `Authorization: Bearer` header; `revokeSession` and `logoutEverywhere` need
 * it. If the field fails, `data` is null and the HTTP status is that of the failure, such as 401, 403 or 429.
 * A read-only gateway answers only `refresh`; the other fields are `READ_ONLY`.
 */
export type MutationRefreshArgs = {
  refreshToken: Scalars['String']['input'];
};


/**
 * Sign-in, refresh and sign-out. An operation may select at most one of these fields, once.
 * `login`, `refresh` and `logout` ignore the `Authorization: Bearer` header; `revokeSession` and `logoutEverywhere` need
 * it. If the field fails, `data` is null and the HTTP status is that of the failure, such as 401, 403 or 429.
 * A read-only gateway answers only `refresh`; the other fields are `READ_ONLY`.
 */
export type MutationRevokeSessionArgs = {
  id: Scalars['ID']['input'];
};

/**
 * An object with a global identity: no other object, of any type, user or export, has the same `id`. An `id` is opaque.
 * It stays the same when the object is imported again, changed in place or moved to another database. It is of no use to
 * other users. (The `id` inside a stored document is its `documentId`.)
 */
export type Node = {
  /** Global and opaque. `node(id:)` finds the object by it. */
  readonly id: Scalars['ID']['output'];
};

/** The position of a page in its list. */
export type PageInfo = {
  readonly __typename?: 'PageInfo';
  /** The cursor of the last item of the page, to pass as `after`. Null if the page is empty. */
  readonly endCursor?: Maybe<Scalars['String']['output']>;
  /**
   * Whether items follow this page. With `first`, whether the page left items out. With `before`, always true, because that
   * item follows.
   */
  readonly hasNextPage: Scalars['Boolean']['output'];
  /**
   * Whether items precede this page. With `last`, whether the page left items out. With `after`, always true, because that
   * item precedes.
   */
  readonly hasPreviousPage: Scalars['Boolean']['output'];
  /** The cursor of the first item of the page, to pass as `before`. Null if the page is empty. */
  readonly startCursor?: Maybe<Scalars['String']['output']>;
};

/**
 * A project, as the design tool stored it.
 *
 * Apart from `id`, `data`, `ref`, `cursor` and the exports, every field is read from the stored document. It is null if
 * the document lacks it or has a value of another type there.
 */
export type Project = Node & {
  readonly __typename?: 'Project';
  /** `createdAt` of the document, as it is written there. */
  readonly createdAt?: Maybe<Scalars['String']['output']>;
  /** The position of this item in its list, to pass as `after`. */
  readonly cursor: Scalars['String']['output'];
  /** The whole stored document, unchanged. */
  readonly data: Scalars['JSON']['output'];
  /** `description` of the document. */
  readonly description?: Maybe<Scalars['String']['output']>;
  /** The document's own `id`, a string or an integer with all its digits. Documents of other lists and users may have the same. */
  readonly documentId?: Maybe<Scalars['ID']['output']>;
  /** Every export of this project, newest first. */
  readonly exports: ReadonlyArray<Export>;
  /** Every export of this project, newest first, as a Relay connection. */
  readonly exportsConnection: ExportConnection;
  /** `framework` of the document, such as `react`. */
  readonly framework?: Maybe<Scalars['String']['output']>;
  /** Global and opaque: the same for this project of this user in every database. */
  readonly id: Scalars['ID']['output'];
  /** The newest export of this project, or null if it has none yet. */
  readonly latestExport?: Maybe<Export>;
  /** `name` of the document. */
  readonly name?: Maybe<Scalars['String']['output']>;
  /** The reference of the project, unique among the user's projects. Exports are found by it. */
  readonly ref: Scalars['String']['output'];
  /** `tags` of the document, usually a list of strings. */
  readonly tags?: Maybe<ReadonlyArray<Scalars['String']['output']>>;
  /** `updatedAt` of the document, as it is written there. */
  readonly updatedAt?: Maybe<Scalars['String']['output']>;
  /** `version` of the document. */
  readonly version?: Maybe<Scalars['String']['output']>;
};


/**
 * A project, as the design tool stored it.
 *
 * Apart from `id`, `data`, `ref`, `cursor` and the exports, every field is read from the stored document. It is null if
 * the document lacks it or has a value of another type there.
 */
export type ProjectExportsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * A project, as the design tool stored it.
 *
 * Apart from `id`, `data`, `ref`, `cursor` and the exports, every field is read from the stored document. It is null if
 * the document lacks it or has a value of another type there.
 */
export type ProjectExportsConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};

/** A page of projects. */
export type ProjectConnection = {
  readonly __typename?: 'ProjectConnection';
  /** The items of the page, each with its cursor. */
  readonly edges: ReadonlyArray<ProjectEdge>;
  /** The items of the page. */
  readonly nodes: ReadonlyArray<Project>;
  /** The position of the page in the list. */
  readonly pageInfo: PageInfo;
  /** The number of items in the whole list. */
  readonly totalCount: Scalars['Int']['output'];
};

/** One project of a page. */
export type ProjectEdge = {
  readonly __typename?: 'ProjectEdge';
  /** The position of this item in the list. */
  readonly cursor: Scalars['String']['output'];
  /** The project itself. */
  readonly node: Project;
};

/**
 * Reads. Limits: a document has at most 65,536 characters, 5,000 lines, 2,000 tokens and 200 levels of nesting; a larger
 * one is `GRAPHQL_PARSE_FAILED`. A request of more than 16,384 characters needs an access token. `nodes` takes at most 100
 * ids. The operator may change the other limits. By default, a document has at most 20 levels of fields, 100 aliases, 200
 * directives, 50 fields at its root and 1,000 with its fragments expanded; a larger one is `GRAPHQL_VALIDATION_FAILED`. An
 * answer has at most 75,000 objects, and the data that it reads, holds in memory and sends is limited too; a larger one is
 * `RESPONSE_TOO_LARGE`. Without `first` or `last`, a list is complete.
 * Every error has a stable `extensions.code`, from the same list as `code` in REST:
 * `UNAUTHENTICATED` (there is no access token), `INVALID_TOKEN` (the token is not valid, or no longer), `NO_PROJECT` and
 * `NO_EXPORT` (nothing has that reference), `INVALID_ARGUMENT` (a value is not allowed), `RESPONSE_TOO_LARGE` (ask for
 * less), `GRAPHQL_PARSE_FAILED`, `GRAPHQL_VALIDATION_FAILED` and `OPERATION_NOT_FOUND` (the document is wrong),
 * `PERSISTED_QUERY_NOT_SUPPORTED`, `BATCHING_NOT_SUPPORTED` and `INCREMENTAL_DELIVERY_NOT_SUPPORTED` (send one whole
 * operation per request), `BAD_REQUEST`, `MALFORMED_JSON`, `BODY_TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`,
 * `METHOD_NOT_ALLOWED` and `NOT_ACCEPTABLE` (the request is wrong), `UNAVAILABLE` (try again shortly) and `INTERNAL` (the
 * gateway failed; `instance` identifies the failure in its log). A mutation has further codes.
 */
export type Query = {
  readonly __typename?: 'Query';
  /**
   * The workspace of the signed-in user, or null if no workspace is stored for their email.
   * Needs `Authorization: Bearer <accessToken>`. Without a token the error code is `UNAUTHENTICATED`. A token that is not
   * valid fails the whole request with HTTP status 401 and code `INVALID_TOKEN`.
   */
  readonly me?: Maybe<User>;
  /**
   * The object with this `id`, if it belongs to the signed-in user. Otherwise null: for an id of another user, a text that
   * is no id, or a removed object. Without an access token it is an error, as for `me`.
   */
  readonly node?: Maybe<Node>;
  /**
   * The objects with these `id`s, in the given order, each as `node` returns it.
   * More than 100 ids are an error, `INVALID_ARGUMENT`.
   */
  readonly nodes: ReadonlyArray<Maybe<Node>>;
};


/**
 * Reads. Limits: a document has at most 65,536 characters, 5,000 lines, 2,000 tokens and 200 levels of nesting; a larger
 * one is `GRAPHQL_PARSE_FAILED`. A request of more than 16,384 characters needs an access token. `nodes` takes at most 100
 * ids. The operator may change the other limits. By default, a document has at most 20 levels of fields, 100 aliases, 200
 * directives, 50 fields at its root and 1,000 with its fragments expanded; a larger one is `GRAPHQL_VALIDATION_FAILED`. An
 * answer has at most 75,000 objects, and the data that it reads, holds in memory and sends is limited too; a larger one is
 * `RESPONSE_TOO_LARGE`. Without `first` or `last`, a list is complete.
 * Every error has a stable `extensions.code`, from the same list as `code` in REST:
 * `UNAUTHENTICATED` (there is no access token), `INVALID_TOKEN` (the token is not valid, or no longer), `NO_PROJECT` and
 * `NO_EXPORT` (nothing has that reference), `INVALID_ARGUMENT` (a value is not allowed), `RESPONSE_TOO_LARGE` (ask for
 * less), `GRAPHQL_PARSE_FAILED`, `GRAPHQL_VALIDATION_FAILED` and `OPERATION_NOT_FOUND` (the document is wrong),
 * `PERSISTED_QUERY_NOT_SUPPORTED`, `BATCHING_NOT_SUPPORTED` and `INCREMENTAL_DELIVERY_NOT_SUPPORTED` (send one whole
 * operation per request), `BAD_REQUEST`, `MALFORMED_JSON`, `BODY_TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`,
 * `METHOD_NOT_ALLOWED` and `NOT_ACCEPTABLE` (the request is wrong), `UNAVAILABLE` (try again shortly) and `INTERNAL` (the
 * gateway failed; `instance` identifies the failure in its log). A mutation has further codes.
 */
export type QueryNodeArgs = {
  id: Scalars['ID']['input'];
};


/**
 * Reads. Limits: a document has at most 65,536 characters, 5,000 lines, 2,000 tokens and 200 levels of nesting; a larger
 * one is `GRAPHQL_PARSE_FAILED`. A request of more than 16,384 characters needs an access token. `nodes` takes at most 100
 * ids. The operator may change the other limits. By default, a document has at most 20 levels of fields, 100 aliases, 200
 * directives, 50 fields at its root and 1,000 with its fragments expanded; a larger one is `GRAPHQL_VALIDATION_FAILED`. An
 * answer has at most 75,000 objects, and the data that it reads, holds in memory and sends is limited too; a larger one is
 * `RESPONSE_TOO_LARGE`. Without `first` or `last`, a list is complete.
 * Every error has a stable `extensions.code`, from the same list as `code` in REST:
 * `UNAUTHENTICATED` (there is no access token), `INVALID_TOKEN` (the token is not valid, or no longer), `NO_PROJECT` and
 * `NO_EXPORT` (nothing has that reference), `INVALID_ARGUMENT` (a value is not allowed), `RESPONSE_TOO_LARGE` (ask for
 * less), `GRAPHQL_PARSE_FAILED`, `GRAPHQL_VALIDATION_FAILED` and `OPERATION_NOT_FOUND` (the document is wrong),
 * `PERSISTED_QUERY_NOT_SUPPORTED`, `BATCHING_NOT_SUPPORTED` and `INCREMENTAL_DELIVERY_NOT_SUPPORTED` (send one whole
 * operation per request), `BAD_REQUEST`, `MALFORMED_JSON`, `BODY_TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`,
 * `METHOD_NOT_ALLOWED` and `NOT_ACCEPTABLE` (the request is wrong), `UNAVAILABLE` (try again shortly) and `INTERNAL` (the
 * gateway failed; `instance` identifies the failure in its log). A mutation has further codes.
 */
export type QueryNodesArgs = {
  ids: ReadonlyArray<Scalars['ID']['input']>;
};

/** A login of the user that has not ended. Times are RFC 3339 in UTC. */
export type Session = Node & {
  readonly __typename?: 'Session';
  /** When the user signed in. */
  readonly createdAt: Scalars['String']['output'];
  /** Whether this is the session of this request. */
  readonly current: Scalars['Boolean']['output'];
  /** When the session ends if it is not used before. */
  readonly expiresAt: Scalars['String']['output'];
  /** Global and opaque. It is valid until the session ends. */
  readonly id: Scalars['ID']['output'];
  /** When the session's refresh token was last used to get an access token, to within a hundredth of its idle lifetime. */
  readonly lastUsedAt: Scalars['String']['output'];
  /** The network of the login: /24 of an IPv4 address, /64 of an IPv6 address. Null if it is unknown. */
  readonly network?: Maybe<Scalars['String']['output']>;
  /** The start of the `User-Agent` header of the login, or null if there was none. */
  readonly userAgent?: Maybe<Scalars['String']['output']>;
};

/**
 * A custom template.
 *
 * Apart from `id`, `data` and `cursor`, every field is read from the stored document. It is null if the document lacks it
 * or has a value of another type there.
 */
export type Template = Node & {
  readonly __typename?: 'Template';
  /** `createdAt` of the document, as it is written there. */
  readonly createdAt?: Maybe<Scalars['String']['output']>;
  /** The position of this item in its list, to pass as `after`. */
  readonly cursor: Scalars['String']['output'];
  /** The whole stored document, unchanged. */
  readonly data: Scalars['JSON']['output'];
  /** `description` of the document. */
  readonly description?: Maybe<Scalars['String']['output']>;
  /** The document's own `id`, a string or an integer with all its digits. Documents of other lists and users may have the same. */
  readonly documentId?: Maybe<Scalars['ID']['output']>;
  /** `framework` of the document, such as `next`. */
  readonly framework?: Maybe<Scalars['String']['output']>;
  /** Global and opaque: the same for this template of this user in every database. */
  readonly id: Scalars['ID']['output'];
  /** `kind` of the document. */
  readonly kind?: Maybe<Scalars['String']['output']>;
  /** `name` of the document. */
  readonly name?: Maybe<Scalars['String']['output']>;
  /** `tags` of the document, usually a list of strings. */
  readonly tags?: Maybe<ReadonlyArray<Scalars['String']['output']>>;
  /** `type` of the document. */
  readonly type?: Maybe<Scalars['String']['output']>;
  /** `updatedAt` of the document, as it is written there. */
  readonly updatedAt?: Maybe<Scalars['String']['output']>;
  /** `version` of the document. */
  readonly version?: Maybe<Scalars['String']['output']>;
};

/** A page of templates. */
export type TemplateConnection = {
  readonly __typename?: 'TemplateConnection';
  /** The items of the page, each with its cursor. */
  readonly edges: ReadonlyArray<TemplateEdge>;
  /** The items of the page. */
  readonly nodes: ReadonlyArray<Template>;
  /** The position of the page in the list. */
  readonly pageInfo: PageInfo;
  /** The number of items in the whole list. */
  readonly totalCount: Scalars['Int']['output'];
};

/** One template of a page. */
export type TemplateEdge = {
  readonly __typename?: 'TemplateEdge';
  /** The position of this item in the list. */
  readonly cursor: Scalars['String']['output'];
  /** The template itself. */
  readonly node: Template;
};

/** The result of a login. */
export type Tokens = {
  readonly __typename?: 'Tokens';
  /** Send it as `Authorization: Bearer <accessToken>` with every read. It is a JWT, valid for a few minutes (see `exp`). */
  readonly accessToken: Scalars['String']['output'];
  /** Only for getting new access tokens and for signing out. Keep it secret. */
  readonly refreshToken: Scalars['String']['output'];
};

/**
 * A custom UI library.
 *
 * Apart from `id`, `data` and `cursor`, every field is read from the stored document. It is null if the document lacks it
 * or has a value of another type there.
 */
export type UiLibrary = Node & {
  readonly __typename?: 'UiLibrary';
  /** `createdAt` of the document, as it is written there. */
  readonly createdAt?: Maybe<Scalars['String']['output']>;
  /** The position of this item in its list, to pass as `after`. */
  readonly cursor: Scalars['String']['output'];
  /** The whole stored document, unchanged. */
  readonly data: Scalars['JSON']['output'];
  /** `description` of the document. */
  readonly description?: Maybe<Scalars['String']['output']>;
  /** The document's own `id`, a string or an integer with all its digits. Documents of other lists and users may have the same. */
  readonly documentId?: Maybe<Scalars['ID']['output']>;
  /** `framework` of the document, such as `react`. */
  readonly framework?: Maybe<Scalars['String']['output']>;
  /** Global and opaque: the same for this UI library of this user in every database. */
  readonly id: Scalars['ID']['output'];
  /** `kind` of the document. */
  readonly kind?: Maybe<Scalars['String']['output']>;
  /** `name` of the document. */
  readonly name?: Maybe<Scalars['String']['output']>;
  /** `tags` of the document, usually a list of strings. */
  readonly tags?: Maybe<ReadonlyArray<Scalars['String']['output']>>;
  /** `type` of the document. */
  readonly type?: Maybe<Scalars['String']['output']>;
  /** `updatedAt` of the document, as it is written there. */
  readonly updatedAt?: Maybe<Scalars['String']['output']>;
  /** `version` of the document. */
  readonly version?: Maybe<Scalars['String']['output']>;
};

/** A page of UI libraries. */
export type UiLibraryConnection = {
  readonly __typename?: 'UiLibraryConnection';
  /** The items of the page, each with its cursor. */
  readonly edges: ReadonlyArray<UiLibraryEdge>;
  /** The items of the page. */
  readonly nodes: ReadonlyArray<UiLibrary>;
  /** The position of the page in the list. */
  readonly pageInfo: PageInfo;
  /** The number of items in the whole list. */
  readonly totalCount: Scalars['Int']['output'];
};

/** One UI library of a page. */
export type UiLibraryEdge = {
  readonly __typename?: 'UiLibraryEdge';
  /** The position of this item in the list. */
  readonly cursor: Scalars['String']['output'];
  /** The UI library itself. */
  readonly node: UiLibrary;
};

/**
 * A user with a stored workspace. Lists are in stored order, and complete without `first`. To page, pass the `cursor` of
 * the last item that you have as `after`. Each list also has a Relay connection, which pages in both directions.
 */
export type User = Node & {
  readonly __typename?: 'User';
  /** The canonical email: lower case, with the domain in its ASCII form. */
  readonly email: Scalars['String']['output'];
  /** Global and opaque: the same for this email in every database. */
  readonly id: Scalars['ID']['output'];
  /**
   * The newest export of one project. Its `data` is the body of `GET /exports?r=`.
   * If there is none, the error says why: `NO_PROJECT` or `NO_EXPORT`. `project(ref) { latestExport { … } }` returns null
   * instead.
   */
  readonly latestExport?: Maybe<Export>;
  /** The project with this reference, or null if the user has none. */
  readonly project?: Maybe<Project>;
  /** The user's projects. The `data` of all of them is the body of `GET /projects`. */
  readonly projects: ReadonlyArray<Project>;
  /** The user's projects as a Relay connection. */
  readonly projectsConnection: ProjectConnection;
  /** The user's open sessions, newest first: at most 1,000. */
  readonly sessions: ReadonlyArray<Session>;
  /** The user's custom templates. The `data` of all of them is the body of `GET /templates`. */
  readonly templates: ReadonlyArray<Template>;
  /** The user's custom templates as a Relay connection. */
  readonly templatesConnection: TemplateConnection;
  /** The user's custom UI libraries. The `data` of all of them is the body of `GET /ui-libraries`. */
  readonly uiLibraries: ReadonlyArray<UiLibrary>;
  /** The user's custom UI libraries as a Relay connection. */
  readonly uiLibrariesConnection: UiLibraryConnection;
};


/**
 * A user with a stored workspace. Lists are in stored order, and complete without `first`. To page, pass the `cursor` of
 * the last item that you have as `after`. Each list also has a Relay connection, which pages in both directions.
 */
export type UserLatestExportArgs = {
  ref: Scalars['String']['input'];
};


/**
 * A user with a stored workspace. Lists are in stored order, and complete without `first`. To page, pass the `cursor` of
 * the last item that you have as `after`. Each list also has a Relay connection, which pages in both directions.
 */
export type UserProjectArgs = {
  ref: Scalars['String']['input'];
};


/**
 * A user with a stored workspace. Lists are in stored order, and complete without `first`. To page, pass the `cursor` of
 * the last item that you have as `after`. Each list also has a Relay connection, which pages in both directions.
 */
export type UserProjectsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * A user with a stored workspace. Lists are in stored order, and complete without `first`. To page, pass the `cursor` of
 * the last item that you have as `after`. Each list also has a Relay connection, which pages in both directions.
 */
export type UserProjectsConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * A user with a stored workspace. Lists are in stored order, and complete without `first`. To page, pass the `cursor` of
 * the last item that you have as `after`. Each list also has a Relay connection, which pages in both directions.
 */
export type UserSessionsArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * A user with a stored workspace. Lists are in stored order, and complete without `first`. To page, pass the `cursor` of
 * the last item that you have as `after`. Each list also has a Relay connection, which pages in both directions.
 */
export type UserTemplatesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * A user with a stored workspace. Lists are in stored order, and complete without `first`. To page, pass the `cursor` of
 * the last item that you have as `after`. Each list also has a Relay connection, which pages in both directions.
 */
export type UserTemplatesConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * A user with a stored workspace. Lists are in stored order, and complete without `first`. To page, pass the `cursor` of
 * the last item that you have as `after`. Each list also has a Relay connection, which pages in both directions.
 */
export type UserUiLibrariesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * A user with a stored workspace. Lists are in stored order, and complete without `first`. To page, pass the `cursor` of
 * the last item that you have as `after`. Each list also has a Relay connection, which pages in both directions.
 */
export type UserUiLibrariesConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};



export type ResolverTypeWrapper<T> = T;

export type Resolver<TResult, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = ResolverFn<TResult, TParent, TContext, TArgs>;

export type SubscriptionSubscribeFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => AsyncIterable<TResult> | Promise<AsyncIterable<TResult>>;

export type SubscriptionResolveFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

export interface SubscriptionSubscriberObject<TResult, TKey extends string, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<{ [key in TKey]: TResult }, TParent, TContext, TArgs>;
  resolve?: SubscriptionResolveFn<TResult, { [key in TKey]: TResult }, TContext, TArgs>;
}

export interface SubscriptionResolverObject<TResult, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<any, TParent, TContext, TArgs>;
  resolve: SubscriptionResolveFn<TResult, any, TContext, TArgs>;
}

export type SubscriptionObject<TResult, TKey extends string, TParent, TContext, TArgs> =
  | SubscriptionSubscriberObject<TResult, TKey, TParent, TContext, TArgs>
  | SubscriptionResolverObject<TResult, TParent, TContext, TArgs>;

export type SubscriptionResolver<TResult, TKey extends string, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> =
  | ((...args: any[]) => SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>)
  | SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>;

export type TypeResolveFn<TTypes, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (
  parent: TParent,
  context: TContext,
  info: GraphQLResolveInfo
) => Maybe<TTypes> | Promise<Maybe<TTypes>>;

export type IsTypeOfResolverFn<T = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (obj: T, context: TContext, info: GraphQLResolveInfo) => boolean | Promise<boolean>;

export type NextResolverFn<T> = () => Promise<T>;

export type DirectiveResolverFn<TResult = Record<PropertyKey, never>, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = (
  next: NextResolverFn<TResult>,
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;





/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  AccessToken: ResolverTypeWrapper<AccessToken>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  Export: ResolverTypeWrapper<StoredExportRow>;
  ExportConnection: ResolverTypeWrapper<ExportConnectionRow>;
  ExportEdge: ResolverTypeWrapper<Omit<ExportEdge, 'node'> & { node: ResolversTypes['Export'] }>;
  ExportElement: ResolverTypeWrapper<ExportedElementRow>;
  ExportElementConnection: ResolverTypeWrapper<ElementConnectionRow>;
  ExportElementEdge: ResolverTypeWrapper<Omit<ExportElementEdge, 'node'> & { node: ResolversTypes['ExportElement'] }>;
  Float: ResolverTypeWrapper<Scalars['Float']['output']>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  JSON: ResolverTypeWrapper<Scalars['JSON']['output']>;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Node: ResolverTypeWrapper<NodeRowRow>;
  PageInfo: ResolverTypeWrapper<PageInfo>;
  Project: ResolverTypeWrapper<StoredDocumentRow>;
  ProjectConnection: ResolverTypeWrapper<DocumentConnectionRow>;
  ProjectEdge: ResolverTypeWrapper<Omit<ProjectEdge, 'node'> & { node: ResolversTypes['Project'] }>;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Session: ResolverTypeWrapper<OpenSessionRow>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  Template: ResolverTypeWrapper<StoredDocumentRow>;
  TemplateConnection: ResolverTypeWrapper<DocumentConnectionRow>;
  TemplateEdge: ResolverTypeWrapper<Omit<TemplateEdge, 'node'> & { node: ResolversTypes['Template'] }>;
  Tokens: ResolverTypeWrapper<Tokens>;
  UiLibrary: ResolverTypeWrapper<StoredDocumentRow>;
  UiLibraryConnection: ResolverTypeWrapper<DocumentConnectionRow>;
  UiLibraryEdge: ResolverTypeWrapper<Omit<UiLibraryEdge, 'node'> & { node: ResolversTypes['UiLibrary'] }>;
  User: ResolverTypeWrapper<WorkspaceUserRow>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  AccessToken: AccessToken;
  Boolean: Scalars['Boolean']['output'];
  Export: StoredExportRow;
  ExportConnection: ExportConnectionRow;
  ExportEdge: Omit<ExportEdge, 'node'> & { node: ResolversParentTypes['Export'] };
  ExportElement: ExportedElementRow;
  ExportElementConnection: ElementConnectionRow;
  ExportElementEdge: Omit<ExportElementEdge, 'node'> & { node: ResolversParentTypes['ExportElement'] };
  Float: Scalars['Float']['output'];
  ID: Scalars['ID']['output'];
  Int: Scalars['Int']['output'];
  JSON: Scalars['JSON']['output'];
  Mutation: Record<PropertyKey, never>;
  Node: NodeRowRow;
  PageInfo: PageInfo;
  Project: StoredDocumentRow;
  ProjectConnection: DocumentConnectionRow;
  ProjectEdge: Omit<ProjectEdge, 'node'> & { node: ResolversParentTypes['Project'] };
  Query: Record<PropertyKey, never>;
  Session: OpenSessionRow;
  String: Scalars['String']['output'];
  Template: StoredDocumentRow;
  TemplateConnection: DocumentConnectionRow;
  TemplateEdge: Omit<TemplateEdge, 'node'> & { node: ResolversParentTypes['Template'] };
  Tokens: Tokens;
  UiLibrary: StoredDocumentRow;
  UiLibraryConnection: DocumentConnectionRow;
  UiLibraryEdge: Omit<UiLibraryEdge, 'node'> & { node: ResolversParentTypes['UiLibrary'] };
  User: WorkspaceUserRow;
};

export type AccessTokenResolvers<ContextType = Context, ParentType extends ResolversParentTypes['AccessToken'] = ResolversParentTypes['AccessToken']> = {
  accessToken: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type ExportResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Export'] = ResolversParentTypes['Export']> = {
  byteLength: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  createdAt: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  cursor: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  data: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
  digest: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  elementCount: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  elements: Resolver<ReadonlyArray<ResolversTypes['ExportElement']>, ParentType, ContextType, Partial<ExportElementsArgs>>;
  elementsConnection: Resolver<ResolversTypes['ExportElementConnection'], ParentType, ContextType, Partial<ExportElementsConnectionArgs>>;
  id: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  ref: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type ExportConnectionResolvers<ContextType = Context, ParentType extends ResolversParentTypes['ExportConnection'] = ResolversParentTypes['ExportConnection']> = {
  edges: Resolver<ReadonlyArray<ResolversTypes['ExportEdge']>, ParentType, ContextType>;
  nodes: Resolver<ReadonlyArray<ResolversTypes['Export']>, ParentType, ContextType>;
  pageInfo: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
  totalCount: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type ExportEdgeResolvers<ContextType = Context, ParentType extends ResolversParentTypes['ExportEdge'] = ResolversParentTypes['ExportEdge']> = {
  cursor: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node: Resolver<ResolversTypes['Export'], ParentType, ContextType>;
};

export type ExportElementResolvers<ContextType = Context, ParentType extends ResolversParentTypes['ExportElement'] = ResolversParentTypes['ExportElement']> = {
  content: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  cursor: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  data: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
  documentId: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  id: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  kind: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  name: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  path: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  type: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type ExportElementConnectionResolvers<ContextType = Context, ParentType extends ResolversParentTypes['ExportElementConnection'] = ResolversParentTypes['ExportElementConnection']> = {
  edges: Resolver<ReadonlyArray<ResolversTypes['ExportElementEdge']>, ParentType, ContextType>;
  nodes: Resolver<ReadonlyArray<ResolversTypes['ExportElement']>, ParentType, ContextType>;
  pageInfo: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
  totalCount: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type ExportElementEdgeResolvers<ContextType = Context, ParentType extends ResolversParentTypes['ExportElementEdge'] = ResolversParentTypes['ExportElementEdge']> = {
  cursor: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node: Resolver<ResolversTypes['ExportElement'], ParentType, ContextType>;
};

export interface JsonScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['JSON'], any> {
  name: 'JSON';
}

export type MutationResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  login?: Resolver<ResolversTypes['Tokens'], ParentType, ContextType, RequireFields<MutationLoginArgs, 'email'>>;
  logout?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType, RequireFields<MutationLogoutArgs, 'refreshToken'>>;
  logoutEverywhere?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  refresh?: Resolver<ResolversTypes['AccessToken'], ParentType, ContextType, RequireFields<MutationRefreshArgs, 'refreshToken'>>;
  revokeSession?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType, RequireFields<MutationRevokeSessionArgs, 'id'>>;
};

export type NodeResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Node'] = ResolversParentTypes['Node']> = {
  __resolveType: TypeResolveFn<'Export' | 'ExportElement' | 'Project' | 'Session' | 'Template' | 'UiLibrary' | 'User', ParentType, ContextType>;
};

export type PageInfoResolvers<ContextType = Context, ParentType extends ResolversParentTypes['PageInfo'] = ResolversParentTypes['PageInfo']> = {
  endCursor: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  hasNextPage: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  hasPreviousPage: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  startCursor: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type ProjectResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Project'] = ResolversParentTypes['Project']> = {
  createdAt: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  cursor: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  data: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
  description: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  documentId: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  exports: Resolver<ReadonlyArray<ResolversTypes['Export']>, ParentType, ContextType, Partial<ProjectExportsArgs>>;
  exportsConnection: Resolver<ResolversTypes['ExportConnection'], ParentType, ContextType, Partial<ProjectExportsConnectionArgs>>;
  framework: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  id: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  latestExport: Resolver<Maybe<ResolversTypes['Export']>, ParentType, ContextType>;
  name: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  ref: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  tags: Resolver<Maybe<ReadonlyArray<ResolversTypes['String']>>, ParentType, ContextType>;
  updatedAt: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  version: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type ProjectConnectionResolvers<ContextType = Context, ParentType extends ResolversParentTypes['ProjectConnection'] = ResolversParentTypes['ProjectConnection']> = {
  edges: Resolver<ReadonlyArray<ResolversTypes['ProjectEdge']>, ParentType, ContextType>;
  nodes: Resolver<ReadonlyArray<ResolversTypes['Project']>, ParentType, ContextType>;
  pageInfo: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
  totalCount: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type ProjectEdgeResolvers<ContextType = Context, ParentType extends ResolversParentTypes['ProjectEdge'] = ResolversParentTypes['ProjectEdge']> = {
  cursor: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node: Resolver<ResolversTypes['Project'], ParentType, ContextType>;
};

export type QueryResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  me?: Resolver<Maybe<ResolversTypes['User']>, ParentType, ContextType>;
  node?: Resolver<Maybe<ResolversTypes['Node']>, ParentType, ContextType, RequireFields<QueryNodeArgs, 'id'>>;
  nodes?: Resolver<ReadonlyArray<Maybe<ResolversTypes['Node']>>, ParentType, ContextType, RequireFields<QueryNodesArgs, 'ids'>>;
};

export type SessionResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Session'] = ResolversParentTypes['Session']> = {
  createdAt: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  current: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  expiresAt: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  id: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  lastUsedAt: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  network: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  userAgent: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type TemplateResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Template'] = ResolversParentTypes['Template']> = {
  createdAt: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  cursor: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  data: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
  description: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  documentId: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  framework: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  id: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  kind: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  name: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  tags: Resolver<Maybe<ReadonlyArray<ResolversTypes['String']>>, ParentType, ContextType>;
  type: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  updatedAt: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  version: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type TemplateConnectionResolvers<ContextType = Context, ParentType extends ResolversParentTypes['TemplateConnection'] = ResolversParentTypes['TemplateConnection']> = {
  edges: Resolver<ReadonlyArray<ResolversTypes['TemplateEdge']>, ParentType, ContextType>;
  nodes: Resolver<ReadonlyArray<ResolversTypes['Template']>, ParentType, ContextType>;
  pageInfo: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
  totalCount: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type TemplateEdgeResolvers<ContextType = Context, ParentType extends ResolversParentTypes['TemplateEdge'] = ResolversParentTypes['TemplateEdge']> = {
  cursor: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node: Resolver<ResolversTypes['Template'], ParentType, ContextType>;
};

export type TokensResolvers<ContextType = Context, ParentType extends ResolversParentTypes['Tokens'] = ResolversParentTypes['Tokens']> = {
  accessToken: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  refreshToken: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type UiLibraryResolvers<ContextType = Context, ParentType extends ResolversParentTypes['UiLibrary'] = ResolversParentTypes['UiLibrary']> = {
  createdAt: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  cursor: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  data: Resolver<ResolversTypes['JSON'], ParentType, ContextType>;
  description: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  documentId: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  framework: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  id: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  kind: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  name: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  tags: Resolver<Maybe<ReadonlyArray<ResolversTypes['String']>>, ParentType, ContextType>;
  type: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  updatedAt: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  version: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type UiLibraryConnectionResolvers<ContextType = Context, ParentType extends ResolversParentTypes['UiLibraryConnection'] = ResolversParentTypes['UiLibraryConnection']> = {
  edges: Resolver<ReadonlyArray<ResolversTypes['UiLibraryEdge']>, ParentType, ContextType>;
  nodes: Resolver<ReadonlyArray<ResolversTypes['UiLibrary']>, ParentType, ContextType>;
  pageInfo: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
  totalCount: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type UiLibraryEdgeResolvers<ContextType = Context, ParentType extends ResolversParentTypes['UiLibraryEdge'] = ResolversParentTypes['UiLibraryEdge']> = {
  cursor: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node: Resolver<ResolversTypes['UiLibrary'], ParentType, ContextType>;
};

export type UserResolvers<ContextType = Context, ParentType extends ResolversParentTypes['User'] = ResolversParentTypes['User']> = {
  email: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  id: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  latestExport: Resolver<Maybe<ResolversTypes['Export']>, ParentType, ContextType, RequireFields<UserLatestExportArgs, 'ref'>>;
  project: Resolver<Maybe<ResolversTypes['Project']>, ParentType, ContextType, RequireFields<UserProjectArgs, 'ref'>>;
  projects: Resolver<ReadonlyArray<ResolversTypes['Project']>, ParentType, ContextType, Partial<UserProjectsArgs>>;
  projectsConnection: Resolver<ResolversTypes['ProjectConnection'], ParentType, ContextType, Partial<UserProjectsConnectionArgs>>;
  sessions: Resolver<ReadonlyArray<ResolversTypes['Session']>, ParentType, ContextType, Partial<UserSessionsArgs>>;
  templates: Resolver<ReadonlyArray<ResolversTypes['Template']>, ParentType, ContextType, Partial<UserTemplatesArgs>>;
  templatesConnection: Resolver<ResolversTypes['TemplateConnection'], ParentType, ContextType, Partial<UserTemplatesConnectionArgs>>;
  uiLibraries: Resolver<ReadonlyArray<ResolversTypes['UiLibrary']>, ParentType, ContextType, Partial<UserUiLibrariesArgs>>;
  uiLibrariesConnection: Resolver<ResolversTypes['UiLibraryConnection'], ParentType, ContextType, Partial<UserUiLibrariesConnectionArgs>>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
};

export type Resolvers<ContextType = Context> = {
  AccessToken: AccessTokenResolvers<ContextType>;
  Export: ExportResolvers<ContextType>;
  ExportConnection: ExportConnectionResolvers<ContextType>;
  ExportEdge: ExportEdgeResolvers<ContextType>;
  ExportElement: ExportElementResolvers<ContextType>;
  ExportElementConnection: ExportElementConnectionResolvers<ContextType>;
  ExportElementEdge: ExportElementEdgeResolvers<ContextType>;
  JSON: GraphQLScalarType;
  Mutation: MutationResolvers<ContextType>;
  Node: NodeResolvers<ContextType>;
  PageInfo: PageInfoResolvers<ContextType>;
  Project: ProjectResolvers<ContextType>;
  ProjectConnection: ProjectConnectionResolvers<ContextType>;
  ProjectEdge: ProjectEdgeResolvers<ContextType>;
  Query: QueryResolvers<ContextType>;
  Session: SessionResolvers<ContextType>;
  Template: TemplateResolvers<ContextType>;
  TemplateConnection: TemplateConnectionResolvers<ContextType>;
  TemplateEdge: TemplateEdgeResolvers<ContextType>;
  Tokens: TokensResolvers<ContextType>;
  UiLibrary: UiLibraryResolvers<ContextType>;
  UiLibraryConnection: UiLibraryConnectionResolvers<ContextType>;
  UiLibraryEdge: UiLibraryEdgeResolvers<ContextType>;
  User: UserResolvers<ContextType>;
};

