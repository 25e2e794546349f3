// docs/api/errors.md: every code of src/errors.ts, with its status, its message and the routes that name it.
import { FAILURE_CODES, type FailureCode, messageOf, statusOf } from '../../src/errors.ts'
import { adviceOn } from '../../src/rest/openapi/failure-advice.ts'
import { ANY_ROUTE_FAILURES, READ_ROUTES, SESSION_ROUTES } from '../../src/rest/routes.ts'
import { code, markdownTable } from './markdown-table.ts'

const INTRODUCTION = `# Errors

REST answers a failure as [problem+json](https://www.rfc-editor.org/rfc/rfc9457): \`type\`, \`title\`, \`status\`, \`code\` and
\`detail\`. \`code\` is stable; \`detail\` is for people and may change. GraphQL has the same \`code\` in \`extensions.code\`.

- A \`5xx\` that is a fault also has an \`instance\`. The log has a line with the same id. In one GraphQL answer all errors of one cause have the same, and one line; while the database is away, all failures of one minute and cause have. A refusal (too much to do) has none. Every problem document has a \`requestId\`, the header \`X-Request-Id\` of every failure.
- A \`401\` has \`WWW-Authenticate: Bearer\`. A \`429\` and most \`503\` have \`Retry-After\`, in seconds. A \`405\` has \`Allow\`.
- No error holds a token, a password, an email of a user, a path, SQL or a stack.
- Errors are never compressed and never kept.

The last column names the routes that list the code. Every route may answer ${ANY_ROUTE_FAILURES.map(code).join(' and ')}. A code without a
route belongs to GraphQL, or to what every request passes (the path, the method, the headers).
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
