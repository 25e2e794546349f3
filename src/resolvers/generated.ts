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
   * Any JSON value, exactly as it was stored: the text is placed into the response without being parsed and printed again,
   * so large integers, `1.0`, key order, duplicate keys and escapes arrive as they were imported.
   */
  JSON: { input: RawJson; output: RawJson; }
};

/** What a refresh answers. */
export type AccessToken = {
  readonly __typename?: 'AccessToken';
  /** Sent as `Authorization: Bearer <accessToken>` with every read. */
  readonly accessToken: Scalars['String']['output'];
};

/** An immutable snapshot of one project: an ordered list of elements. */
export type Export = Node & {
  readonly __typename?: 'Export';
  /** How many bytes `data` is. */
  readonly byteLength: Scalars['Float']['output'];
  /** When it was made: an RFC 3339 date and time, as it was imported. */
  readonly createdAt: Scalars['String']['output'];
  /** Names this export's place in the project's history: pass it as `after`. */
  readonly cursor: Scalars['String']['output'];
  /** All elements as one JSON array, untouched: the body of `GET /exports?r=`. */
  readonly data: Scalars['JSON']['output'];
  /** SHA-256 of the bytes of `data`, in lower-case hexadecimal. */
  readonly digest: Scalars['String']['output'];
  /** How many elements it has. */
  readonly elementCount: Scalars['Int']['output'];
  /** The elements, in order: files and components, usually. All of them unless `first` is given. */
  readonly elements: ReadonlyArray<ExportElement>;
  /** The elements as a Relay connection. */
  readonly elementsConnection: ExportElementConnection;
  /** Global and opaque: the same for this export of this user in every database, for as long as its project has this `ref`. */
  readonly id: Scalars['ID']['output'];
  /** The `ref` of the project it is an export of. */
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
  /** Where the page stands in the list. */
  readonly pageInfo: PageInfo;
  /** How many items the whole list has. */
  readonly totalCount: Scalars['Int']['output'];
};

/** One export of a page. */
export type ExportEdge = {
  readonly __typename?: 'ExportEdge';
  /** Names this item's place in the list. */
  readonly cursor: Scalars['String']['output'];
  /** The export itself. */
  readonly node: Export;
};

/**
 * One element of an export.
 *
 * Apart from `id`, `data` and `cursor`, every field is read from the stored element and null when the element lacks it or
 * holds a value of another type there.
 */
export type ExportElement = Node & {
  readonly __typename?: 'ExportElement';
  /** `content` of the element: the text of the file, where it is one. */
  readonly content?: Maybe<Scalars['String']['output']>;
  /** Names this element's place in the export: pass it as `after`. */
  readonly cursor: Scalars['String']['output'];
  /** The whole stored element, untouched. */
  readonly data: Scalars['JSON']['output'];
  /** The element's own `id`, a string or an integer with all its digits. Other elements may have the same. */
  readonly documentId?: Maybe<Scalars['ID']['output']>;
  /** Global and opaque: the same for this place in this export of this user in every database; another one when the export's is. */
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
  /** Where the page stands in the list. */
  readonly pageInfo: PageInfo;
  /** How many items the whole list has. */
  readonly totalCount: Scalars['Int']['output'];
};

/** One export element of a page. */
export type ExportElementEdge = {
  readonly __typename?: 'ExportElementEdge';
  /** Names this item's place in the list. */
  readonly cursor: Scalars['String']['output'];
  /** The element itself. */
  readonly node: ExportElement;
};

/**
 * Signing in, staying signed in, signing out. An operation may select at most one of these fields, once.
 * `login`, `refresh` and `logout` do not look at the `Authorization: Bearer` header; `revokeSession` and
 * `logoutEverywhere` need it. When one fails, `data` is null and the HTTP status is the failure's own (400, 401, 403 or
 * 429).
 */
export type Mutation = {
  readonly __typename?: 'Mutation';
  /**
   * Opens a session for an email and answers its two tokens. The same as `POST /login`.
   * Errors: `INVALID_EMAIL`, `LOGIN_REFUSED` (the gateway's login guard said no), `TOO_MANY_REQUESTS`.
   */
  readonly login: Tokens;
  /**
   * Ends a session: its refresh token and all its access tokens are refused from now on. The same as `DELETE /logout`.
   * Always true; a token that is unknown, expired or already logged out is an error, `INVALID_TOKEN`.
   */
  readonly logout: Scalars['Boolean']['output'];
  /**
   * Ends all sessions of the signed-in user, that of the request too, and answers how many there were.
   * Errors: `UNAUTHENTICATED` (no access token), `INVALID_TOKEN`.
   */
  readonly logoutEverywhere: Scalars['Int']['output'];
  /**
   * A new access token for a session that is still open. The same as `POST /token`. The refresh token stays as it is,
   * and any number of calls may run at once. Errors: `UNAUTHENTICATED`, `INVALID_TOKEN`, `TOO_MANY_REQUESTS`.
   */
  readonly refresh: AccessToken;
  /**
   * Ends one of the signed-in user's sessions, by the `id` of a `Session`: its tokens are refused from now on. The session
   * of the request itself may be ended too. False when the user has no open session of that id.
   * Errors: `UNAUTHENTICATED` (no access token), `INVALID_TOKEN`.
   */
  readonly revokeSession: Scalars['Boolean']['output'];
};


/**
 * Signing in, staying signed in, signing out. An operation may select at most one of these fields, once.
 * `login`, `refresh` and `logout` do not look at the `Authorization: Bearer` header; `revokeSession` and
 * `logoutEverywhere` need it. When one fails, `data` is null and the HTTP status is the failure's own (400, 401, 403 or
 * 429).
 */
export type MutationLoginArgs = {
  code?: InputMaybe<Scalars['String']['input']>;
  email: Scalars['String']['input'];
};


/**
 * Signing in, staying signed in, signing out. An operation may select at most one of these fields, once.
 * `login`, `refresh` and `logout` do not look at the `Authorization: Bearer` header; `revokeSession` and
 * `logoutEverywhere` need it. When one fails, `data` is null and the HTTP status is the failure's own (400, 401, 403 or
 * 429).
 */
export type MutationLogoutArgs = {
  refreshToken: Scalars['String']['input'];
};


/**
 * Signing in, staying signed in, signing out. An operation may select at most one of these fields, once.
 * `login`, `refresh` and `logout` do not look at the `Authorization: Bearer` header; `revokeSession` and
 * `logoutEverywhere` need it. When one fails, `data` is null and the HTTP status is the failure's own (400, 401, 403 or
 * 429).
 */
export type MutationRefreshArgs = {
  refreshToken: Scalars['String']['input'];
};


/**
 * Signing in, staying signed in, signing out. An operation may select at most one of these fields, once.
 * `login`, `refresh` and `logout` do not look at the `Authorization: Bearer` header; `revokeSession` and
 * `logoutEverywhere` need it. When one fails, `data` is null and the HTTP status is the failure's own (400, 401, 403 or
 * 429).
 */
export type MutationRevokeSessionArgs = {
  id: Scalars['ID']['input'];
};

/**
 * Anything with an identity of its own. `id` names one thing in the world: no other type, user or export has the same.
 * It is opaque, stays the same when the thing is imported again, changed in place or moved to another database, and is of
 * no use to anybody else. (The `id` inside a stored document is its `documentId`.)
 */
export type Node = {
  /** Global and opaque: ask for the thing again with `node(id:)`. */
  readonly id: Scalars['ID']['output'];
};

/** Where a page of a connection stands in its list. */
export type PageInfo = {
  readonly __typename?: 'PageInfo';
  /** The cursor of the last item of the page, to pass as `after`; null when the page is empty. */
  readonly endCursor?: Maybe<Scalars['String']['output']>;
  /**
   * Whether there is more after this page: of a page with `first`, whether it left something out; of a page with `before`,
   * always, for that item comes after it.
   */
  readonly hasNextPage: Scalars['Boolean']['output'];
  /**
   * Whether there is more before this page: of a page with `last`, whether it left something out; of a page with `after`,
   * always, for that item comes before it.
   */
  readonly hasPreviousPage: Scalars['Boolean']['output'];
  /** The cursor of the first item of the page, to pass as `before`; null when the page is empty. */
  readonly startCursor?: Maybe<Scalars['String']['output']>;
};

/**
 * A project, as the design tool stored it.
 *
 * Apart from `id`, `data`, `ref`, `cursor` and the exports, every field is read from the stored document and null when the
 * document lacks it or holds a value of another type there.
 */
export type Project = Node & {
  readonly __typename?: 'Project';
  /** `createdAt` of the document, as it is written there. */
  readonly createdAt?: Maybe<Scalars['String']['output']>;
  /** Names this item's place in its list: pass it as `after`. */
  readonly cursor: Scalars['String']['output'];
  /** The whole stored document, untouched. */
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
  /** The newest export of this project, or null when it has none yet. */
  readonly latestExport?: Maybe<Export>;
  /** `name` of the document. */
  readonly name?: Maybe<Scalars['String']['output']>;
  /** The reference exports are asked for by, unique among the user's projects. */
  readonly ref: Scalars['String']['output'];
  /** `tags` of the document, a list of strings as a rule. */
  readonly tags?: Maybe<ReadonlyArray<Scalars['String']['output']>>;
  /** `updatedAt` of the document, as it is written there. */
  readonly updatedAt?: Maybe<Scalars['String']['output']>;
  /** `version` of the document. */
  readonly version?: Maybe<Scalars['String']['output']>;
};


/**
 * A project, as the design tool stored it.
 *
 * Apart from `id`, `data`, `ref`, `cursor` and the exports, every field is read from the stored document and null when the
 * document lacks it or holds a value of another type there.
 */
export type ProjectExportsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * A project, as the design tool stored it.
 *
 * Apart from `id`, `data`, `ref`, `cursor` and the exports, every field is read from the stored document and null when the
 * document lacks it or holds a value of another type there.
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
  /** Where the page stands in the list. */
  readonly pageInfo: PageInfo;
  /** How many items the whole list has. */
  readonly totalCount: Scalars['Int']['output'];
};

/** One project of a page. */
export type ProjectEdge = {
  readonly __typename?: 'ProjectEdge';
  /** Names this item's place in the list. */
  readonly cursor: Scalars['String']['output'];
  /** The project itself. */
  readonly node: Project;
};

/**
 * Reading. Limits: a document has at most 65,536 characters, 2,000 tokens and 200 levels of nesting; past that it is
 * `GRAPHQL_PARSE_FAILED`. Unless the operator has chosen others, it has at most 20 levels of fields, 100 aliases, 200
 * directives, 50 fields at its root and 1,000 with its fragments in place; past that it is `GRAPHQL_VALIDATION_FAILED`.
 * An answer has at most 75,000 objects, and what it reads, holds in memory and sends is bounded too; past that it is
 * `RESPONSE_TOO_LARGE`. `nodes` takes at most 100 ids. Lists are whole unless `first` or `last` is given.
 * Every error has a stable `extensions.code`, the same list as REST's `code`:
 * `UNAUTHENTICATED` (no access token), `INVALID_TOKEN` (one that is not valid, or no longer), `NO_PROJECT` and `NO_EXPORT`
 * (nothing by that reference), `INVALID_ARGUMENT` (a value that is not allowed), `RESPONSE_TOO_LARGE` (ask for less),
 * `GRAPHQL_PARSE_FAILED`, `GRAPHQL_VALIDATION_FAILED` and `OPERATION_NOT_FOUND` (the document is at fault),
 * `PERSISTED_QUERY_NOT_SUPPORTED`, `BATCHING_NOT_SUPPORTED` and `INCREMENTAL_DELIVERY_NOT_SUPPORTED` (send one whole
 * operation in a request),
 * `MALFORMED_JSON`, `BODY_TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`, `METHOD_NOT_ALLOWED` and `NOT_ACCEPTABLE` (the request
 * is), `UNAVAILABLE` (try again shortly) and `INTERNAL` (our fault; `instance` names it in the log).
 */
export type Query = {
  readonly __typename?: 'Query';
  /**
   * The workspace of the signed-in user, or null when no workspace is stored for their email.
   * Needs `Authorization: Bearer <accessToken>`: without one the error code is `UNAUTHENTICATED`; a token that is
   * presented but not valid fails the whole request with HTTP status 401 and code `INVALID_TOKEN`.
   */
  readonly me?: Maybe<User>;
  /**
   * The thing with this `id`, as long as it is the signed-in user's own. Null for everything else: an id of another user,
   * one that is not an id, something that was removed. Without an access token it is an error, as for `me`.
   */
  readonly node?: Maybe<Node>;
  /**
   * The things with these `id`s, in the order given, each as `node` answers it.
   * At most 100 ids: more are an error, `INVALID_ARGUMENT`.
   */
  readonly nodes: ReadonlyArray<Maybe<Node>>;
};


/**
 * Reading. Limits: a document has at most 65,536 characters, 2,000 tokens and 200 levels of nesting; past that it is
 * `GRAPHQL_PARSE_FAILED`. Unless the operator has chosen others, it has at most 20 levels of fields, 100 aliases, 200
 * directives, 50 fields at its root and 1,000 with its fragments in place; past that it is `GRAPHQL_VALIDATION_FAILED`.
 * An answer has at most 75,000 objects, and what it reads, holds in memory and sends is bounded too; past that it is
 * `RESPONSE_TOO_LARGE`. `nodes` takes at most 100 ids. Lists are whole unless `first` or `last` is given.
 * Every error has a stable `extensions.code`, the same list as REST's `code`:
 * `UNAUTHENTICATED` (no access token), `INVALID_TOKEN` (one that is not valid, or no longer), `NO_PROJECT` and `NO_EXPORT`
 * (nothing by that reference), `INVALID_ARGUMENT` (a value that is not allowed), `RESPONSE_TOO_LARGE` (ask for less),
 * `GRAPHQL_PARSE_FAILED`, `GRAPHQL_VALIDATION_FAILED` and `OPERATION_NOT_FOUND` (the document is at fault),
 * `PERSISTED_QUERY_NOT_SUPPORTED`, `BATCHING_NOT_SUPPORTED` and `INCREMENTAL_DELIVERY_NOT_SUPPORTED` (send one whole
 * operation in a request),
 * `MALFORMED_JSON`, `BODY_TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`, `METHOD_NOT_ALLOWED` and `NOT_ACCEPTABLE` (the request
 * is), `UNAVAILABLE` (try again shortly) and `INTERNAL` (our fault; `instance` names it in the log).
 */
export type QueryNodeArgs = {
  id: Scalars['ID']['input'];
};


/**
 * Reading. Limits: a document has at most 65,536 characters, 2,000 tokens and 200 levels of nesting; past that it is
 * `GRAPHQL_PARSE_FAILED`. Unless the operator has chosen others, it has at most 20 levels of fields, 100 aliases, 200
 * directives, 50 fields at its root and 1,000 with its fragments in place; past that it is `GRAPHQL_VALIDATION_FAILED`.
 * An answer has at most 75,000 objects, and what it reads, holds in memory and sends is bounded too; past that it is
 * `RESPONSE_TOO_LARGE`. `nodes` takes at most 100 ids. Lists are whole unless `first` or `last` is given.
 * Every error has a stable `extensions.code`, the same list as REST's `code`:
 * `UNAUTHENTICATED` (no access token), `INVALID_TOKEN` (one that is not valid, or no longer), `NO_PROJECT` and `NO_EXPORT`
 * (nothing by that reference), `INVALID_ARGUMENT` (a value that is not allowed), `RESPONSE_TOO_LARGE` (ask for less),
 * `GRAPHQL_PARSE_FAILED`, `GRAPHQL_VALIDATION_FAILED` and `OPERATION_NOT_FOUND` (the document is at fault),
 * `PERSISTED_QUERY_NOT_SUPPORTED`, `BATCHING_NOT_SUPPORTED` and `INCREMENTAL_DELIVERY_NOT_SUPPORTED` (send one whole
 * operation in a request),
 * `MALFORMED_JSON`, `BODY_TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`, `METHOD_NOT_ALLOWED` and `NOT_ACCEPTABLE` (the request
 * is), `UNAVAILABLE` (try again shortly) and `INTERNAL` (our fault; `instance` names it in the log).
 */
export type QueryNodesArgs = {
  ids: ReadonlyArray<Scalars['ID']['input']>;
};

/** A login of the user that has not ended. Times are RFC 3339 in UTC. */
export type Session = Node & {
  readonly __typename?: 'Session';
  /** When the user signed in. */
  readonly createdAt: Scalars['String']['output'];
  /** Whether it is the session of this request. */
  readonly current: Scalars['Boolean']['output'];
  /** When it ends unless it is used before. */
  readonly expiresAt: Scalars['String']['output'];
  /** Global and opaque. It ends with the session. */
  readonly id: Scalars['ID']['output'];
  /** About when an access token was last asked for with the session's refresh token, to a hundredth of its idle lifetime. */
  readonly lastUsedAt: Scalars['String']['output'];
  /** The network that the user signed in from: /24 of an IPv4 address, /64 of an IPv6 address. Null when it is not known. */
  readonly network?: Maybe<Scalars['String']['output']>;
  /** The start of the `User-Agent` that signed in, or null when it did not say. */
  readonly userAgent?: Maybe<Scalars['String']['output']>;
};

/**
 * A custom template.
 *
 * Apart from `id`, `data` and `cursor`, every field is read from the stored document and null when the document lacks it or
 * holds a value of another type there.
 */
export type Template = Node & {
  readonly __typename?: 'Template';
  /** `createdAt` of the document, as it is written there. */
  readonly createdAt?: Maybe<Scalars['String']['output']>;
  /** Names this item's place in its list: pass it as `after`. */
  readonly cursor: Scalars['String']['output'];
  /** The whole stored document, untouched. */
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
  /** `tags` of the document, a list of strings as a rule. */
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
  /** Where the page stands in the list. */
  readonly pageInfo: PageInfo;
  /** How many items the whole list has. */
  readonly totalCount: Scalars['Int']['output'];
};

/** One template of a page. */
export type TemplateEdge = {
  readonly __typename?: 'TemplateEdge';
  /** Names this item's place in the list. */
  readonly cursor: Scalars['String']['output'];
  /** The template itself. */
  readonly node: Template;
};

/** What a login answers. */
export type Tokens = {
  readonly __typename?: 'Tokens';
  /** Sent as `Authorization: Bearer <accessToken>` with every read; valid for a few minutes (a JWT, see `exp`). */
  readonly accessToken: Scalars['String']['output'];
  /** Good for new access tokens and for signing out, and for nothing else. Keep it secret. */
  readonly refreshToken: Scalars['String']['output'];
};

/**
 * A custom UI library.
 *
 * Apart from `id`, `data` and `cursor`, every field is read from the stored document and null when the document lacks it or
 * holds a value of another type there.
 */
export type UiLibrary = Node & {
  readonly __typename?: 'UiLibrary';
  /** `createdAt` of the document, as it is written there. */
  readonly createdAt?: Maybe<Scalars['String']['output']>;
  /** Names this item's place in its list: pass it as `after`. */
  readonly cursor: Scalars['String']['output'];
  /** The whole stored document, untouched. */
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
  /** `tags` of the document, a list of strings as a rule. */
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
  /** Where the page stands in the list. */
  readonly pageInfo: PageInfo;
  /** How many items the whole list has. */
  readonly totalCount: Scalars['Int']['output'];
};

/** One UI library of a page. */
export type UiLibraryEdge = {
  readonly __typename?: 'UiLibraryEdge';
  /** Names this item's place in the list. */
  readonly cursor: Scalars['String']['output'];
  /** The UI library itself. */
  readonly node: UiLibrary;
};

/**
 * A user with a stored workspace. Lists come in stored order, whole unless `first` is given; to page, pass the `cursor` of
 * the last item you have as `after`. Each list has a Relay connection beside it, which pages both ways.
 */
export type User = Node & {
  readonly __typename?: 'User';
  /** The canonical email: lower case, with the domain in its ASCII form. */
  readonly email: Scalars['String']['output'];
  /** Global and opaque: the same for this email in every database. */
  readonly id: Scalars['ID']['output'];
  /**
   * The newest export of one project. Its `data` is the body of `GET /exports?r=`.
   * Where there is none the error says why, `NO_PROJECT` or `NO_EXPORT`; ask for `project(ref) { latestExport { … } }` to
   * get a plain null instead.
   */
  readonly latestExport?: Maybe<Export>;
  /** The project with this reference, or null when the user has none. */
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
 * A user with a stored workspace. Lists come in stored order, whole unless `first` is given; to page, pass the `cursor` of
 * the last item you have as `after`. Each list has a Relay connection beside it, which pages both ways.
 */
export type UserLatestExportArgs = {
  ref: Scalars['String']['input'];
};


/**
 * A user with a stored workspace. Lists come in stored order, whole unless `first` is given; to page, pass the `cursor` of
 * the last item you have as `after`. Each list has a Relay connection beside it, which pages both ways.
 */
export type UserProjectArgs = {
  ref: Scalars['String']['input'];
};


/**
 * A user with a stored workspace. Lists come in stored order, whole unless `first` is given; to page, pass the `cursor` of
 * the last item you have as `after`. Each list has a Relay connection beside it, which pages both ways.
 */
export type UserProjectsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * A user with a stored workspace. Lists come in stored order, whole unless `first` is given; to page, pass the `cursor` of
 * the last item you have as `after`. Each list has a Relay connection beside it, which pages both ways.
 */
export type UserProjectsConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * A user with a stored workspace. Lists come in stored order, whole unless `first` is given; to page, pass the `cursor` of
 * the last item you have as `after`. Each list has a Relay connection beside it, which pages both ways.
 */
export type UserSessionsArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * A user with a stored workspace. Lists come in stored order, whole unless `first` is given; to page, pass the `cursor` of
 * the last item you have as `after`. Each list has a Relay connection beside it, which pages both ways.
 */
export type UserTemplatesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * A user with a stored workspace. Lists come in stored order, whole unless `first` is given; to page, pass the `cursor` of
 * the last item you have as `after`. Each list has a Relay connection beside it, which pages both ways.
 */
export type UserTemplatesConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * A user with a stored workspace. Lists come in stored order, whole unless `first` is given; to page, pass the `cursor` of
 * the last item you have as `after`. Each list has a Relay connection beside it, which pages both ways.
 */
export type UserUiLibrariesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


/**
 * A user with a stored workspace. Lists come in stored order, whole unless `first` is given; to page, pass the `cursor` of
 * the last item you have as `after`. Each list has a Relay connection beside it, which pages both ways.
 */
export type UserUiLibrariesConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};



export type ResolverTypeWrapper<T> = Promise<T> | T;

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

