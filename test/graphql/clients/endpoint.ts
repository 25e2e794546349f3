// Where the clients send their query, as whom, and which query it is.

export interface Endpoint {
  readonly url: string
  readonly accessToken: string
}

export const QUERY = 'query Clients { me { email projects { ref name data } } }'

export function authorization({ accessToken }: Endpoint): { readonly authorization: string } {
  return { authorization: `Bearer ${accessToken}` }
}
