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
  JSON: { input: RawJson; output: RawJson; }
};

export type AccessToken = {
  readonly accessToken: Scalars['String']['output'];
};

export type Export = Node & {
  readonly byteLength: Scalars['Float']['output'];
  readonly createdAt: Scalars['String']['output'];
  readonly cursor: Scalars['String']['output'];
  readonly data: Scalars['JSON']['output'];
  readonly digest: Scalars['String']['output'];
  readonly elementCount: Scalars['Int']['output'];
  readonly elements: ReadonlyArray<ExportElement>;
  readonly elementsConnection: ExportElementConnection;
  readonly id: Scalars['ID']['output'];
  readonly ref: Scalars['String']['output'];
};


export type ExportElementsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


export type ExportElementsConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};

export type ExportConnection = {
  readonly edges: ReadonlyArray<ExportEdge>;
  readonly nodes: ReadonlyArray<Export>;
  readonly pageInfo: PageInfo;
  readonly totalCount: Scalars['Int']['output'];
};

export type ExportEdge = {
  readonly cursor: Scalars['String']['output'];
  readonly node: Export;
};

export type ExportElement = Node & {
  readonly content?: Maybe<Scalars['String']['output']>;
  readonly cursor: Scalars['String']['output'];
  readonly data: Scalars['JSON']['output'];
  readonly documentId?: Maybe<Scalars['ID']['output']>;
  readonly id: Scalars['ID']['output'];
  readonly kind?: Maybe<Scalars['String']['output']>;
  readonly name?: Maybe<Scalars['String']['output']>;
  readonly path?: Maybe<Scalars['String']['output']>;
  readonly type?: Maybe<Scalars['String']['output']>;
};

export type ExportElementConnection = {
  readonly edges: ReadonlyArray<ExportElementEdge>;
  readonly nodes: ReadonlyArray<ExportElement>;
  readonly pageInfo: PageInfo;
  readonly totalCount: Scalars['Int']['output'];
};

export type ExportElementEdge = {
  readonly cursor: Scalars['String']['output'];
  readonly node: ExportElement;
};

export type Mutation = {
  readonly login: Tokens;
  readonly logout: Scalars['Boolean']['output'];
  readonly logoutEverywhere: Scalars['Int']['output'];
  readonly refresh: AccessToken;
  readonly revokeSession: Scalars['Boolean']['output'];
};


export type MutationLoginArgs = {
  code?: InputMaybe<Scalars['String']['input']>;
  email: Scalars['String']['input'];
};


export type MutationLogoutArgs = {
  refreshToken: Scalars['String']['input'];
};


export type MutationRefreshArgs = {
  refreshToken: Scalars['String']['input'];
};


export type MutationRevokeSessionArgs = {
  id: Scalars['ID']['input'];
};

export type Node = {
  readonly id: Scalars['ID']['output'];
};

export type PageInfo = {
  readonly endCursor?: Maybe<Scalars['String']['output']>;
  readonly hasNextPage: Scalars['Boolean']['output'];
  readonly hasPreviousPage: Scalars['Boolean']['output'];
  readonly startCursor?: Maybe<Scalars['String']['output']>;
};

export type Project = Node & {
  readonly createdAt?: Maybe<Scalars['String']['output']>;
  readonly cursor: Scalars['String']['output'];
  readonly data: Scalars['JSON']['output'];
  readonly description?: Maybe<Scalars['String']['output']>;
  readonly documentId?: Maybe<Scalars['ID']['output']>;
  readonly exports: ReadonlyArray<Export>;
  readonly exportsConnection: ExportConnection;
  readonly framework?: Maybe<Scalars['String']['output']>;
  readonly id: Scalars['ID']['output'];
  readonly latestExport?: Maybe<Export>;
  readonly name?: Maybe<Scalars['String']['output']>;
  readonly ref: Scalars['String']['output'];
  readonly tags?: Maybe<ReadonlyArray<Scalars['String']['output']>>;
  readonly updatedAt?: Maybe<Scalars['String']['output']>;
  readonly version?: Maybe<Scalars['String']['output']>;
};


export type ProjectExportsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


export type ProjectExportsConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};

export type ProjectConnection = {
  readonly edges: ReadonlyArray<ProjectEdge>;
  readonly nodes: ReadonlyArray<Project>;
  readonly pageInfo: PageInfo;
  readonly totalCount: Scalars['Int']['output'];
};

export type ProjectEdge = {
  readonly cursor: Scalars['String']['output'];
  readonly node: Project;
};

export type Query = {
  readonly me?: Maybe<User>;
  readonly node?: Maybe<Node>;
  readonly nodes: ReadonlyArray<Maybe<Node>>;
};


export type QueryNodeArgs = {
  id: Scalars['ID']['input'];
};


export type QueryNodesArgs = {
  ids: ReadonlyArray<Scalars['ID']['input']>;
};

export type Session = Node & {
  readonly createdAt: Scalars['String']['output'];
  readonly current: Scalars['Boolean']['output'];
  readonly expiresAt: Scalars['String']['output'];
  readonly id: Scalars['ID']['output'];
  readonly lastUsedAt: Scalars['String']['output'];
  readonly network?: Maybe<Scalars['String']['output']>;
  readonly userAgent?: Maybe<Scalars['String']['output']>;
};

export type Template = Node & {
  readonly createdAt?: Maybe<Scalars['String']['output']>;
  readonly cursor: Scalars['String']['output'];
  readonly data: Scalars['JSON']['output'];
  readonly description?: Maybe<Scalars['String']['output']>;
  readonly documentId?: Maybe<Scalars['ID']['output']>;
  readonly framework?: Maybe<Scalars['String']['output']>;
  readonly id: Scalars['ID']['output'];
  readonly kind?: Maybe<Scalars['String']['output']>;
  readonly name?: Maybe<Scalars['String']['output']>;
  readonly tags?: Maybe<ReadonlyArray<Scalars['String']['output']>>;
  readonly type?: Maybe<Scalars['String']['output']>;
  readonly updatedAt?: Maybe<Scalars['String']['output']>;
  readonly version?: Maybe<Scalars['String']['output']>;
};

export type TemplateConnection = {
  readonly edges: ReadonlyArray<TemplateEdge>;
  readonly nodes: ReadonlyArray<Template>;
  readonly pageInfo: PageInfo;
  readonly totalCount: Scalars['Int']['output'];
};

export type TemplateEdge = {
  readonly cursor: Scalars['String']['output'];
  readonly node: Template;
};

export type Tokens = {
  readonly accessToken: Scalars['String']['output'];
  readonly refreshToken: Scalars['String']['output'];
};

export type UiLibrary = Node & {
  readonly createdAt?: Maybe<Scalars['String']['output']>;
  readonly cursor: Scalars['String']['output'];
  readonly data: Scalars['JSON']['output'];
  readonly description?: Maybe<Scalars['String']['output']>;
  readonly documentId?: Maybe<Scalars['ID']['output']>;
  readonly framework?: Maybe<Scalars['String']['output']>;
  readonly id: Scalars['ID']['output'];
  readonly kind?: Maybe<Scalars['String']['output']>;
  readonly name?: Maybe<Scalars['String']['output']>;
  readonly tags?: Maybe<ReadonlyArray<Scalars['String']['output']>>;
  readonly type?: Maybe<Scalars['String']['output']>;
  readonly updatedAt?: Maybe<Scalars['String']['output']>;
  readonly version?: Maybe<Scalars['String']['output']>;
};

export type UiLibraryConnection = {
  readonly edges: ReadonlyArray<UiLibraryEdge>;
  readonly nodes: ReadonlyArray<UiLibrary>;
  readonly pageInfo: PageInfo;
  readonly totalCount: Scalars['Int']['output'];
};

export type UiLibraryEdge = {
  readonly cursor: Scalars['String']['output'];
  readonly node: UiLibrary;
};

export type User = Node & {
  readonly email: Scalars['String']['output'];
  readonly id: Scalars['ID']['output'];
  readonly latestExport?: Maybe<Export>;
  readonly project?: Maybe<Project>;
  readonly projects: ReadonlyArray<Project>;
  readonly projectsConnection: ProjectConnection;
  readonly sessions: ReadonlyArray<Session>;
  readonly templates: ReadonlyArray<Template>;
  readonly templatesConnection: TemplateConnection;
  readonly uiLibraries: ReadonlyArray<UiLibrary>;
  readonly uiLibrariesConnection: UiLibraryConnection;
};


export type UserLatestExportArgs = {
  ref: Scalars['String']['input'];
};


export type UserProjectArgs = {
  ref: Scalars['String']['input'];
};


export type UserProjectsArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


export type UserProjectsConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


export type UserSessionsArgs = {
  first?: InputMaybe<Scalars['Int']['input']>;
};


export type UserTemplatesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


export type UserTemplatesConnectionArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  before?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
  last?: InputMaybe<Scalars['Int']['input']>;
};


export type UserUiLibrariesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};


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

