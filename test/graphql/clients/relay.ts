// Relay's runtime with the network layer of its guide, and the artifact that its compiler would make of the query.
import {
  type ConcreteRequest,
  Environment,
  type FetchFunction,
  fetchQuery,
  Network,
  type OperationType,
  RecordSource,
  Store,
} from 'relay-runtime'
import { authorization, type Endpoint, QUERY } from './endpoint.ts'

interface ClientsQuery extends OperationType {
  readonly variables: Record<string, never>
  readonly response: { readonly me: unknown }
}

const scalar = (name: string) => ({ alias: null, args: null, kind: 'ScalarField', name, storageKey: null }) as const
const selections = [
  {
    alias: null,
    args: null,
    concreteType: 'User',
    kind: 'LinkedField',
    name: 'me',
    plural: false,
    storageKey: null,
    selections: [
      scalar('email'),
      {
        alias: null,
        args: null,
        concreteType: 'Project',
        kind: 'LinkedField',
        name: 'projects',
        plural: true,
        selections: [scalar('ref'), scalar('name'), scalar('data')],
        storageKey: null,
      },
    ],
  },
] as const

const REQUEST = {
  kind: 'Request',
  fragment: {
    argumentDefinitions: [],
    kind: 'Fragment',
    metadata: null,
    name: 'Clients',
    selections,
    type: 'Query',
    abstractKey: null,
  },
  operation: { argumentDefinitions: [], kind: 'Operation', name: 'Clients', selections },
  params: { cacheID: 'clients', id: null, metadata: {}, name: 'Clients', operationKind: 'query', text: QUERY },
} as unknown as ConcreteRequest

export async function askRelay(endpoint: Endpoint): Promise<unknown> {
  const fetchFunction: FetchFunction = async (request, variables) => {
    const response = await fetch(`${endpoint.url}/graphql`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/graphql-response+json; charset=utf-8, application/json; charset=utf-8',
        ...authorization(endpoint),
      },
      body: JSON.stringify({ query: request.text, variables }),
    })
    return response.json()
  }
  const environment = new Environment({ network: Network.create(fetchFunction), store: new Store(new RecordSource()) })
  return (await fetchQuery<ClientsQuery>(environment, REQUEST, {}).toPromise())?.me
}
