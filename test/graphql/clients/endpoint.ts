// Where the clients ask, as whom, and what.

export interface Endpoint {
  readonly url: string
  readonly accessToken: string
}

export const QUERY = 'query Clients { me { email projects { ref name data } } }'

export function authorization({ accessToken }: Endpoint): { readonly authorization: string } {
  return { authorization: `Bearer ${accessToken}` }
}
