// The queries GraphiQL opens with, one tab each.

export interface Example {
  readonly query: string
  readonly variables?: string
}

export const EXAMPLES: readonly Example[] = [
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
  {
    query: `# The newest export of a project, with its files.
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
`,
    variables: '{ "ref": "roastery-site" }',
  },
  {
    query: `# What these pages do for you: a login opens a session.
mutation SignIn($email: String!) {
  login(email: $email) {
    accessToken
    refreshToken
  }
}
`,
    variables: '{ "email": "demo@example.com" }',
  },
]
