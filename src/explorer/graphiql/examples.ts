// The example queries with which GraphiQL opens, one per tab, filled in with the user's own data.

export interface Example {
  readonly query: string
  readonly variables?: string
}

/** `ref` is the reference of a project with an export; null when the user has none. */
export function examplesFor(email: string, ref: string | null): readonly Example[] {
  return [
    ...READING,
    ...(ref === null ? [] : [{ query: LATEST_EXPORT, variables: JSON.stringify({ ref }) }]),
    signIn(email),
  ]
}

const READING: readonly Example[] = [
  {
    query: `# Your projects, each with its newest export.
query Projects {
  me {
    email
    projects {
      ref
      name
      framework
      updatedAt
      latestExport {
        createdAt
        elementCount
      }
    }
  }
}
`,
  },
  {
    query: `# A page of projects. Pass endCursor as "after" to get the next one.
query Page($first: Int = 2, $after: String) {
  me {
    projectsConnection(first: $first, after: $after) {
      totalCount
      nodes {
        ref
        name
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
}
`,
    variables: '{ "first": 2 }',
  },
]

export const LATEST_EXPORT = `# The newest export of a project, with its files.
query LatestExport($ref: String!) {
  me {
    latestExport(ref: $ref) {
      createdAt
      digest
      byteLength
      elements(first: 3) {
        type
        path
        content
      }
    }
  }
}
`

function signIn(email: string): Example {
  return { query: SIGN_IN, variables: JSON.stringify({ email }) }
}

const SIGN_IN = `# What these pages do for you: a login opens a session.
mutation SignIn($email: String!) {
  login(email: $email) {
    accessToken
    refreshToken
  }
}
`
