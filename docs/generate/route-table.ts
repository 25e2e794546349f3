// The table of the contract's routes, from the rows that answer them.
import { READ_ROUTES, SESSION_ROUTES } from '../../src/rest/routes.ts'
import { code, markdownTable } from './markdown-table.ts'

/** A route a line, with what it does and its GraphQL twin. */
export function routeTable(): string {
  const rows = [
    ...SESSION_ROUTES.map(({ method, path, field, optionalField, summary, twin }) => [
      `${code(`${method} ${path}`)} ${code(`{${[field, ...(optionalField ? [`${optionalField}?`] : [])].join(', ')}}`)}`,
      summary,
      code(twin),
    ]),
    ...READ_ROUTES.map(({ method, path, parameter, summary, twin }) => [
      code(`${method} ${path}${parameter === undefined ? '' : `?${parameter}=`}`),
      summary,
      code(twin),
    ]),
  ]
  return markdownTable(['route', 'does', 'GraphQL twin'], rows)
}

/** How each route may fail, by the codes of its row. */
export function routeFailureTable(): string {
  const rows = [...SESSION_ROUTES, ...READ_ROUTES].map(({ method, path, failures }) => [
    code(`${method} ${path}`),
    failures.map(code).join(' '),
  ])
  return markdownTable(['route', 'fails with'], rows)
}
