// Bad proxy configurations: each is the documented one with one change, and names the check that finds it.
import type { Documented } from '../guards/proxies/documented-proxies.ts'

export interface BadProxy {
  readonly name: string
  readonly proxy: Documented['name']
  /** The check that finds the change, perhaps among others. */
  readonly check: string
  /** Changes the documented block. */
  readonly change: (block: string) => string
  /** Whether the gateway behind it lets anybody in. */
  readonly isOpen?: boolean
  /** Whether all other checks depend on this one, so that it is the only finding. */
  readonly hidesOthers?: boolean
  /** The checks that rely on the errors that it replaces: they are skipped, neither blamed nor passed. */
  readonly skips?: readonly string[]
}

const passTo = (path: string) => (block: string) => block.replace(/(proxy_pass .*);/, `$1${path};`)
const buffered = (block: string) => block.replace('proxy_buffering off;', 'proxy_buffering on;')
const without = (line: RegExp) => (block: string) => block.replace(line, '')
const inLocation = (lines: string) => (block: string) => block.replace('location / {', `location / {\n        ${lines}`)
const inServer = (lines: string) => (block: string) => block.replace('location / {', `${lines}\n    location / {`)
/** Lines of the server, without those of its location that would override them. */
const onServer = (lines: string) => (block: string) => inServer(lines)(without(/^.*client_max_body_size .*$/m)(block))
const inReverseProxy = (line: string) => (block: string) =>
  block.replace('header_up -Forwarded', `header_up -Forwarded\n        ${line}`)
const beforeReverseProxy = (lines: string) => (block: string) =>
  block.replace('reverse_proxy', `${lines}\n    reverse_proxy`)

export const BAD_PROXIES: readonly BadProxy[] = [
  {
    name: 'sends a PROXY header to a gateway that expects none',
    proxy: 'HAProxy with the PROXY protocol',
    check: 'query',
    change: (block) => block.replace('send-proxy-v2-ssl', 'send-proxy-v2'),
    hidesOthers: true,
  },
  {
    name: 'drops the body of requests',
    proxy: 'nginx',
    check: 'delete-body',
    change: inLocation('proxy_pass_request_body off; proxy_set_header Content-Length "";'),
  },
  {
    name: 'passes X-Forwarded-For on unchanged',
    proxy: 'nginx',
    check: 'forged-address',
    change: without(/^.*X-Forwarded-For .*$/m),
  },
  {
    name: 'drops what it has added if the client names it in Connection',
    proxy: 'Apache',
    check: 'dropped-address',
    change: without(/^.*unset Connection$/m),
  },
  {
    name: 'requests uncompressed answers',
    proxy: 'nginx',
    check: 'compression',
    change: inLocation('proxy_set_header Accept-Encoding "";'),
  },
  {
    name: 'holds answers back',
    proxy: 'nginx',
    check: 'streaming',
    change: buffered,
  },
  {
    name: 'caches what must not be cached',
    proxy: 'nginx',
    check: 'shared-cache',
    change: (block) =>
      `proxy_cache_path DIRECTORY/cache keys_zone=all:1m;\n${inLocation('proxy_cache all; proxy_cache_valid 200 1m; proxy_ignore_headers Cache-Control;')(buffered(block))}`,
  },
  {
    name: 'lets browsers keep what must not be kept',
    proxy: 'nginx',
    check: 'shared-cache',
    change: inServer('expires 10m;'),
  },
  {
    name: 'does not name the client',
    proxy: 'HAProxy',
    check: 'client-address',
    change: without(/^.*X-Forwarded-For .*$/m),
  },
  {
    name: 'passes every header on unchanged',
    proxy: 'nginx',
    check: 'forged-host',
    change: without(/^.*proxy_set_header (?:X-)?Forwarded.*$/gm),
  },
  {
    name: 'removes every forwarding header',
    proxy: 'nginx',
    check: 'client-address',
    change: (block) => block.replace(/proxy_set_header ((?:X-)?Forwarded\S*) .*;/g, 'proxy_set_header $1 "";'),
  },
  {
    name: 'does not pass the scheme on',
    proxy: 'HAProxy',
    check: 'client-scheme',
    change: without(/^.*X-Forwarded-Proto .*$/m),
  },
  {
    name: 'passes Forwarded on unchanged',
    proxy: 'HAProxy',
    check: 'forged-forwarded',
    change: without(/^.*del-header Forwarded.*$/m),
  },
  {
    name: 'drops Authorization',
    proxy: 'Caddy',
    check: 'authorization',
    change: inReverseProxy('header_up -Authorization'),
  },
  {
    name: 'lets the client name its own address',
    proxy: 'Caddy',
    check: 'forged-address',
    change: inReverseProxy('header_up X-Forwarded-For {http.request.header.X-Forwarded-For}'),
  },
  {
    name: 'closes the login over REST only',
    proxy: 'Caddy',
    check: 'login-open-graphql',
    change: beforeReverseProxy('respond /login 403'),
    isOpen: true,
  },
  {
    name: 'lets everybody sign in',
    proxy: 'Caddy',
    check: 'login-open',
    change: (block) => block,
    isOpen: true,
  },
  {
    name: 'passes X-Forwarded-Host on unchanged',
    proxy: 'nginx',
    check: 'forged-host',
    change: without(/^.*X-Forwarded-Host .*$/m),
  },
  {
    name: 'passes its own name on as the host',
    proxy: 'nginx',
    check: 'client-host',
    change: (block) => without(/^.*X-Forwarded-Host .*$/m)(without(/^.* Host \$host;$/m)(block)),
  },
  {
    name: 'accepts short bodies only',
    proxy: 'nginx',
    check: 'body-limit',
    change: onServer('client_max_body_size 10k;'),
  },
  {
    name: 'replaces errors with its own',
    proxy: 'nginx',
    check: 'problem-documents',
    change: inServer('proxy_intercept_errors on; error_page 401 /denied.html;'),
    skips: ['delete-body', 'authorization', 'body-limit'],
  },
  {
    name: 'replaces errors with a page of its own',
    proxy: 'nginx',
    check: 'problem-documents',
    change: inServer(
      'proxy_intercept_errors on; error_page 400 401 403 404 405 /denied.html; location = /denied.html { internal; return 200 "denied"; }',
    ),
    isOpen: true,
    skips: ['login-open', 'login-open-graphql', 'delete-body', 'authorization', 'body-limit'],
  },
  {
    name: 'accepts old versions of TLS',
    proxy: 'HAProxy',
    check: 'tls-version',
    change: (block) => block.replace(/(bind .*\.pem)/, '$1 ssl-min-ver TLSv1.0 ciphers DEFAULT:@SECLEVEL=0'),
  },
  {
    name: 'answers in place of the gateway',
    proxy: 'nginx',
    check: 'query',
    change: inServer('location = /openapi.json { return 404; }'),
  },
  {
    name: 'loses the query',
    proxy: 'nginx',
    check: 'query',
    change: passTo('$uri'),
  },
  {
    name: 'loses the path',
    proxy: 'nginx',
    check: 'query',
    change: passTo('/?'),
    hidesOthers: true,
  },
  {
    name: 'passes another path on',
    proxy: 'nginx',
    check: 'query',
    change: passTo('/v1/'),
    hidesOthers: true,
  },
]

export interface PastedProxy extends Pick<BadProxy, 'name' | 'proxy' | 'change'> {
  /** All checks that find something. */
  readonly checks: readonly string[]
  /** What the findings say. */
  readonly says: readonly string[]
}

const inHaproxy = (frontend: readonly string[], backend: string) => (block: string) =>
  block
    .replace('default_backend', `${frontend.join('\n    ')}\n    default_backend`)
    .replace('    server', `    ${backend}\n    server`)

/** Configurations with lines from the web, one for each check, so that one proxy shows all that is found. */
export const PASTED_PROXIES: readonly PastedProxy[] = [
  {
    name: 'hides headers and refuses requests',
    proxy: 'nginx',
    change: onServer(
      [
        'large_client_header_buffers 4 1k;',
        'if ($request_method !~ ^(GET|POST)$) { return 444; }',
        'if ($query_string ~ "%7B") { return 403; }',
        'proxy_hide_header ETag; proxy_hide_header Vary;',
        'add_header Cache-Control "public, max-age=3600"; add_header Access-Control-Allow-Origin *;',
        'location ~ \\.(js|css)$ { root /var/www; }',
        'proxy_read_timeout 3s; client_max_body_size 1m;',
      ].join('\n    '),
    ),
    checks: [
      ...['delete-body', 'head', 'graphql', 'authorization', 'pages', 'import-limit', 'time-out'],
      ...['conditional-requests', 'vary', 'shared-cache', 'cors', 'preflight'],
    ],
    says: [
      'DELETE /logout is broken off',
      'a HEAD request is broken off',
      'in the address of a GET is answered 403',
      'a token of 4096 characters in Authorization, the most that the gateway reads, is answered 400',
      'a script of the pages is answered 404',
      'an import of 64 MiB is answered 413',
      'an answer that takes the gateway 4 s, as it may when it waits for the database, is answered 504',
      'without an ETag',
      'Cache-Control: no-store, public, max-age=3600',
      'Access-Control-Allow-Origin: *',
      'https://app.example.com, which --cors-origin lists, is broken off',
    ],
  },
  {
    name: 'answers preflights itself and lets every origin in',
    proxy: 'nginx',
    change: inLocation(
      [
        'if ($request_method = OPTIONS) {',
        'add_header Access-Control-Allow-Origin *; add_header Access-Control-Allow-Methods "GET, POST, OPTIONS";',
        'add_header Access-Control-Allow-Headers "Content-Type, Range"; return 204; }',
        'proxy_hide_header Access-Control-Allow-Origin; proxy_hide_header Access-Control-Expose-Headers;',
        'add_header Access-Control-Allow-Origin $http_origin; add_header Access-Control-Allow-Credentials true;',
      ].join('\n        '),
    ),
    checks: ['cors', 'preflight'],
    says: [
      'Access-Control-Allow-Origin: https://doctor.example.com and Access-Control-Allow-Credentials: true',
      'without Access-Control-Allow-Methods: DELETE and without Access-Control-Allow-Headers: authorization, if-none-match',
    ],
  },
  {
    name: 'changes headers',
    proxy: 'HAProxy',
    change: inHaproxy(
      [
        'http-request deny if { req.body_size gt 1000000 }',
        'http-request deny if METH_HEAD',
        'http-request deny if { query -m sub %7B }',
        'http-request deny if { req.hdr(Authorization) -m len gt 2000 }',
        `http-response replace-header ETag '"(.*)"' '"\\1-h"'`,
        'http-response set-header Vary Origin',
        'http-response add-header Cache-Control max-age=60',
        'http-response add-header Access-Control-Allow-Origin https://app.example.com',
      ],
      'timeout server 3s',
    ),
    checks: [
      ...['head', 'graphql', 'authorization', 'import-limit', 'time-out'],
      ...['conditional-requests', 'vary', 'shared-cache', 'cors'],
    ],
    says: ['a HEAD request is answered 403', 'is answered 504', 'with another ETag than', 'browsers refuse two values'],
  },
  {
    name: 'changes headers',
    proxy: 'Caddy',
    change: (block) =>
      beforeReverseProxy('@methods method HEAD OPTIONS\n    respond @methods 405')(
        inReverseProxy(
          [
            'header_up -If-None-Match',
            'header_down -Vary',
            'header_down Cache-Control "public, max-age=60"',
            'header_down +Access-Control-Allow-Origin *',
          ].join('\n        '),
        )(block.replace('compression off', 'compression off\n            response_header_timeout 3s')),
      ),
    checks: ['head', 'time-out', 'conditional-requests', 'vary', 'shared-cache', 'cors', 'preflight'],
    says: ['If-None-Match does not arrive', 'is answered 405'],
  },
]
