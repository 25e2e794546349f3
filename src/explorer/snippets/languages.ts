// The languages of the code generator, in the order of the menu.
import type { Call, SignIn } from './call.ts'
import { curl } from './curl.ts'
import { go } from './go.ts'
import { apolloClient, urql } from './graphql-clients.ts'
import { javascript } from './javascript.ts'
import { python } from './python.ts'

export interface SnippetLanguage {
  readonly name: string
  readonly fileName: string
  readonly isForGraphqlOnly: boolean
  /** The snippet runs as pasted. Without `signIn` it reads `ACCESS_TOKEN` or `REFRESH_TOKEN` from the environment. */
  readonly write: (call: Call, signIn: SignIn | null) => string
}

export const SNIPPET_LANGUAGES: readonly SnippetLanguage[] = [
  { name: 'curl', fileName: 'request.sh', isForGraphqlOnly: false, write: curl },
  { name: 'JavaScript', fileName: 'request.mjs', isForGraphqlOnly: false, write: javascript },
  { name: 'Python', fileName: 'request.py', isForGraphqlOnly: false, write: python },
  { name: 'Go', fileName: 'request.go', isForGraphqlOnly: false, write: go },
  { name: 'Apollo Client', fileName: 'request.mjs', isForGraphqlOnly: true, write: apolloClient },
  { name: 'urql', fileName: 'request.mjs', isForGraphqlOnly: true, write: urql },
]
