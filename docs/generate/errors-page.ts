// docs/api/errors.md: every code of src/errors.ts, with its status, its message and the routes that name it.
import { FAILURE_CODES, type FailureCode, messageOf, statusOf } from '../../src/errors.ts'
import { adviceOn } from '../../src/rest/openapi/failure-advice.ts'
import { ANY_ROUTE_FAILURES, READ_ROUTES, SESSION_ROUTES } from '../../src/rest/routes.ts'
import { code, markdownTable } from './markdown-table.ts'

const INTRODUCTION = `# Errors

REST answers a failure as [problem+json](https://www.rfc-editor.org/rfc/rfc9457) with \`type\`, \`title\`, \`status\`, \`code\` and
\`detail\`. The \`code\` is stable. The \`detail\` is for people and may change. GraphQL has the same \`code\` in \`extensions.code\`.

- A \`5xx\` caused by a fault also has an \`instance\`, and the log has a line with the same id. Errors of one GraphQL answer that share a cause share one \`instance\` and one line. While the database is away, all failures of one minute and cause share them. A refusal because of overload has no \`instance\`.
- Every problem document has a \`requestId\`. Every failure has the same value in the header \`X-Request-Id\`.
- A \`401\` has \`WWW-Authenticate: Bearer\`. A \`429\` and most \`503\` have \`Retry-After\`, in seconds. A \`405\` has \`Allow\`. A \`415\` for a content coding has \`Accept-Encoding: identity\`.
- In GraphQL, an error has those seconds also as \`extensions.retryAfterSeconds\`, even in a partial answer, which is 200 and has no \`Retry-After\`.
- No error contains a token, a password, a user's email, a path, SQL or a stack.
- Errors are never compressed or cached.

The last column names the routes that list the code. Every route may answer ${new Intl.ListFormat('en-GB').format(ANY_ROUTE_FAILURES.map(code))}. A code without a
route belongs to GraphQL, or to checks that apply to every request (path, method, headers).
`

export function errorsPage(): string {
  const rows = FAILURE_CODES.toSorted((a, b) => statusOf(a) - statusOf(b)).map((failure) => [
    String(statusOf(failure)),
    code(failure),
    messageOf(failure),
    adviceOn(failure),
    routesOf(failure),
  ])
  return `${INTRODUCTION}\n${markdownTable(['status', 'code', 'message', 'what to do', 'routes'], rows)}\n`
}

function routesOf(failure: FailureCode): string {
  if (ANY_ROUTE_FAILURES.includes(failure)) return 'all'
  const paths = [...SESSION_ROUTES, ...READ_ROUTES]
    .filter(({ failures }) => failures.includes(failure))
    .map(({ path }) => path)
  return [...new Set(paths)].map(code).join(' ')
}
