// Configurations of real proxies as people set them up: each row is one way to put a proxy before a gateway.
import type { ProxyProgram, ProxyStart } from '../../support/proxy-process.ts'

/** One listener of a proxy, in front of one gateway. */
export interface Link {
  readonly port: number
  readonly gatewayPort: number
}

export interface ProxyRow {
  readonly name: string
  readonly program: ProxyProgram
  /** Whether the proxy runs as the same system user as the gateway. */
  readonly asSameUser?: boolean
  /** The part of the program's configuration that describes one listener. */
  readonly listener: (link: Link) => string
}

const nginx = (name: string, lines = ''): ProxyRow => ({
  name: `nginx, ${name}`,
  program: 'nginx',
  listener: ({ port, gatewayPort }) =>
    `server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${gatewayPort}; ${lines} } }`,
})

const haproxy = (name: string, mode: string, server = ''): ProxyRow => ({
  name: `HAProxy, ${name}`,
  program: 'haproxy',
  listener: ({ port, gatewayPort }) =>
    `listen l${port}\n  bind 127.0.0.1:${port}\n  ${mode}\n  server gateway 127.0.0.1:${gatewayPort} ${server}\n`,
})

const socat: ProxyRow = {
  name: 'socat',
  program: 'socat',
  listener: ({ port, gatewayPort }) => `TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr TCP:127.0.0.1:${gatewayPort}`,
}

const HTTP_1_1 = 'proxy_http_version 1.1; proxy_set_header Connection "";'

export const PROXY_ROWS: readonly ProxyRow[] = [
  nginx('the one line everybody starts with'),
  nginx('HTTP/1.1', HTTP_1_1),
  nginx(
    'WebSockets',
    'proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;',
  ),
  nginx('Host', `${HTTP_1_1} proxy_set_header Host $host;`),
  nginx('Host and X-Real-IP', `${HTTP_1_1} proxy_set_header Host $host; proxy_set_header X-Real-IP $remote_addr;`),
  nginx(
    'Host and X-Forwarded-*',
    `${HTTP_1_1} proxy_set_header Host $host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Forwarded-Proto $scheme;`,
  ),
  haproxy('mode tcp', 'mode tcp'),
  haproxy('mode http', 'mode http'),
  haproxy('option forwardfor', 'mode http\n  option forwardfor'),
  haproxy('send-proxy', 'mode tcp', 'send-proxy'),
  haproxy('send-proxy-v2', 'mode tcp', 'send-proxy-v2'),
  {
    name: 'Caddy',
    program: 'caddy',
    listener: ({ port, gatewayPort }) =>
      `http://:${port} {\n  bind 127.0.0.1\n  reverse_proxy 127.0.0.1:${gatewayPort}\n}\n`,
  },
  {
    name: 'Apache',
    program: 'apache2',
    listener: ({ port, gatewayPort }) =>
      `Listen 127.0.0.1:${port}\n<VirtualHost 127.0.0.1:${port}>\n  ProxyPass / http://127.0.0.1:${gatewayPort}/\n</VirtualHost>\n`,
  },
  socat,
  { ...socat, name: 'socat of the same user', asSameUser: true },
]

/** The rest of each configuration: paths and timeouts, which do not matter to the guard. */
const FRAMES: Readonly<Record<Exclude<ProxyProgram, 'socat'>, (listeners: string) => string>> = {
  nginx: nginxFrame,
  haproxy: (listeners) => `defaults\n  timeout connect 5s\n  timeout client 30s\n  timeout server 30s\n${listeners}`,
  caddy: (listeners) => `{\n  admin off\n  auto_https off\n}\n${listeners}`,
  apache2: apacheFrame,
}

export function apacheFrame(listeners: string): string {
  const ofProxies = ['mpm_event', 'authz_core', 'ssl', 'proxy', 'proxy_http']
  const ofChanges = ['headers', 'filter', 'deflate', 'substitute', 'expires', 'allowmethods']
  return [
    'ServerRoot DIRECTORY',
    'ServerName localhost',
    'PidFile DIRECTORY/apache.pid',
    'ErrorLog DIRECTORY/logs/error.log',
    'Mutex file:DIRECTORY default',
    ...[...ofProxies, ...ofChanges].map(
      (module) => `LoadModule ${module}_module /usr/lib/apache2/modules/mod_${module}.so`,
    ),
    listeners,
  ].join('\n')
}

export function nginxFrame(servers: string): string {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path DIRECTORY/${name};`,
  )
  return `daemon off; pid DIRECTORY/nginx.pid; events {} http { access_log off; ${paths.join(' ')} ${servers} }`
}

/** Describes the processes to start: one per program with all its listeners, but for socat one per listener. */
export function proxyStarts(links: readonly (Link & { readonly row: ProxyRow })[]): readonly ProxyStart[] {
  const [single, shared] = [
    links.filter(({ row }) => row.program === 'socat'),
    links.filter(({ row }) => row.program !== 'socat'),
  ]
  return [
    ...single.map(({ row, ...link }) => ({
      program: row.program,
      files: [],
      args: row.listener(link).split(' '),
      ports: [link.port],
      asSameUser: row.asSameUser ?? false,
    })),
    ...[...Map.groupBy(shared, ({ row }) => row.program)].map(([program, group]) => ({
      program,
      files: [
        { name: 'proxy.conf', text: frameOf(program)(group.map(({ row, ...link }) => row.listener(link)).join('\n')) },
      ],
      ports: group.map(({ port }) => port),
    })),
  ]
}

function frameOf(program: ProxyProgram): (listeners: string) => string {
  if (program === 'socat') throw new Error('socat has no configuration')
  return FRAMES[program]
}
