// Renders the operator's page about REST calls: one document without scripts, in the colours of the user pages.
import { hash } from 'node:crypto'
import type { GatewayResponse } from '../http/response.ts'
import { escapeHtml } from '../redact.ts'

/** The calls of one client to one route. */
export interface LedgerTotal {
  readonly route: string
  /** The same operation in GraphQL. */
  readonly twin: string
  readonly client: string
  readonly count: number
  /** Milliseconds since the epoch. */
  readonly lastSeen: number
}

/** The colours of the explorer (`src/explorer/design/styles/tokens.css`), light and dark. */
const COLOURS = {
  ground: 'light-dark(#f6f7f9, #0f131a)',
  surface: 'light-dark(#ffffff, #171c25)',
  line: 'light-dark(#dce1e9, #2b3341)',
  text: 'light-dark(#172033, #e6eaf2)',
  muted: 'light-dark(#55607a, #a1acc0)',
}

const STYLE = `:root{color-scheme:light dark}
body{margin:0 auto;max-width:960px;padding:24px;background:${COLOURS.ground};color:${COLOURS.text};
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
section{margin:24px 0;padding:16px 20px;background:${COLOURS.surface};border:1px solid ${COLOURS.line};border-radius:8px;overflow-x:auto}
h1{font-size:24px}h2{margin:0;font-size:17px}p,th{color:${COLOURS.muted}}
code{font-family:ui-monospace,"SF Mono",Menlo,Consolas,monospace;font-size:13px;overflow-wrap:anywhere}
table{width:100%;border-collapse:collapse}th,td{padding:6px 12px 6px 0;border-top:1px solid ${COLOURS.line};text-align:start}
th{font-weight:500}.count{text-align:end;font-variant-numeric:tabular-nums}`

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
}

/** `totals` must be in display order, with those of one route together. */
export function ledgerPage(totals: readonly LedgerTotal[], days: number): GatewayResponse {
  const routes = [...Map.groupBy(totals, ({ route }) => route)].map(([route, clients]) => routeSection(route, clients))
  const none = '<section><p>No REST calls were counted in this period.</p></section>'
  const body = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>REST calls · Workspace Gateway</title><style>${STYLE}</style></head>
<body><h1>Who still calls REST</h1><p>Calls of the last ${days} days, by route and client.</p>
${routes.length === 0 ? none : routes.join('\n')}</body></html>`
  return { status: 200, headers: HEADERS, body }
}

function routeSection(route: string, clients: readonly LedgerTotal[]): string {
  // Clients choose their own names, so a name may contain HTML.
  const rows = clients.map(
    ({ client, count, lastSeen }) =>
      `<tr><td>${escapeHtml(client)}</td><td class="count">${count}</td><td>${new Date(lastSeen).toISOString().slice(0, 16).replace('T', ' ')} UTC</td></tr>`,
  )
  return `<section><h2>${escapeHtml(route)}</h2><p>In GraphQL: <code>${escapeHtml(clients[0]?.twin ?? '')}</code></p>
<table><thead><tr><th scope="col">Client</th><th scope="col" class="count">Calls</th><th scope="col">Last seen</th></tr></thead>
<tbody>${rows.join('')}</tbody></table></section>`
}
