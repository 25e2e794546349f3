// Tests the doctor from outside: through documented and badly configured proxies, over TLS, and at the metrics.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apacheFrame } from '../guards/proxies/configurations.ts'
import {
  blocks,
  createCertificates,
  type Documented,
  NAME,
  startDocumented,
  DOCUMENTED as WITHOUT_IMPORTS,
} from '../guards/proxies/documented-proxies.ts'
import { runHere, type ServingProcess, serve, serveForTest } from '../support/command-line.ts'
import { freePort, freePorts } from '../support/free-port.ts'
import { isInstalled, startProxy } from '../support/proxy-process.ts'
import { makeDirectory, removeDirectory, temporaryDirectory } from '../support/temporary-directory.ts'
import { BAD_PROXIES, PASTED_PROXIES } from './bad-proxies.ts'

interface Report {
  readonly findings: readonly {
    readonly check: string
    readonly problem: string
    readonly fix: Readonly<Record<string, string>>
  }[]
  readonly passed: readonly string[]
  readonly notChecked: readonly { readonly check: string; readonly reason: string }[]
}

const DAY_MS = 86_400_000
const directory = makeDirectory()
const [, importLines = ''] = blocks('nginx')
/** With the lines for nginx that imports need, since the gateways here accept imports. */
const DOCUMENTED = WITHOUT_IMPORTS.map((documented) => ({
  ...documented,
  block: documented.block.replace('location / {', `location / {\n${importLines}`),
}))
/** Longer than the time-outs of `PASTED_PROXIES`. */
const LONG_WAIT = ['--lock-timeout', '4000']
const importToken = join(directory, 'import-token')
writeFileSync(importToken, 'x'.repeat(32), { mode: 0o600 })
const database = `file:${join(directory, 'workspace.db')}`
const common = ['--trusted-proxy', '127.0.0.1', '--import-token-file', importToken] as const
const kinds = {
  closed: [...common, '--login-guard', 'none', '--cors-origin', 'https://app.example.com'],
  open: [...common, '--login-guard', 'open'],
  protocol: [...common, '--login-guard', 'none', '--proxy-protocol'],
} as const
/** For all proxies of this file, because the keys take longer to make than a proxy takes to start. */
const certificates = createCertificates()
const gateways = new Map<keyof typeof kinds, ServingProcess>()

beforeAll(async () => {
  for (const [kind, options] of Object.entries(kinds)) {
    gateways.set(kind as keyof typeof kinds, await serve(['--database', database, ...options]))
  }
})
afterAll(async () => {
  for (const gateway of gateways.values()) await gateway.kill('SIGKILL')
  removeDirectory(directory)
})

async function examine(documented: Documented, kind: keyof typeof kinds, options: readonly string[] = []) {
  const { port, ca } = await startDocumented(documented, gateways.get(kind)?.url ?? '', certificates)
  return look(`https://${NAME}:${port}`, [...kinds[kind], '--tls-ca', authorityFile(ca), ...options])
}

function authorityFile(pem: string): string {
  const path = join(temporaryDirectory(), 'ca.pem')
  writeFileSync(path, pem)
  return path
}

async function look(url: string, options: readonly string[], clock = Date.now) {
  // The gateway's answers wait as long as --lock-timeout says, here hardly at all.
  const args = ['--connect-to', '127.0.0.1', '--database', database, '--format', 'json', '--lock-timeout', '50']
  const { stdout, stderr, exitCode } = await runHere(['doctor', url, ...args, ...options], { clock })
  expect(stderr).toBe('')
  return { exitCode, ...(JSON.parse(stdout) as Report) }
}

/** Starts HAProxy without TLS, with lines for its sections `global` and `listen`, and returns its URL. */
async function startHaproxy(gatewayUrl: string, globals = '', lines = ''): Promise<string> {
  const port = await freePort('127.0.0.1')
  const times = ['connect', 'client', 'server'].map((name) => `  timeout ${name} 30s\n`).join('')
  const listener = `listen all\n  bind 127.0.0.1:${port}\n  ${lines}\n  server gateway ${new URL(gatewayUrl).host}\n`
  const text = `global\n  ${globals}\ndefaults\n  mode http\n${times}${listener}`
  await startProxy({ program: 'haproxy', files: [{ name: 'haproxy.cfg', text }], ports: [port] })
  return `http://127.0.0.1:${port}`
}

describe('doctor URL', () => {
  const [nginx] = DOCUMENTED
  for (const documented of DOCUMENTED) {
    const kind = documented.proxyProtocol ? 'protocol' : 'closed'
    test.runIf(isInstalled(documented.program))(`finds nothing behind ${documented.name} as documented`, async () => {
      const { findings, notChecked, exitCode } = await examine(documented, kind)
      expect(findings).toEqual([])
      expect(notChecked.map(({ check }) => check)).toEqual(['backups'])
      expect(exitCode).toBe(0)
    })
  }

  test.runIf(nginx && isInstalled(nginx.program))('finds nothing behind nginx that compresses', async () => {
    if (!nginx) throw new Error('nothing is documented')
    const lines = 'gzip on; gzip_types application/json; gzip_proxied any; gzip_min_length 1;'
    const block = nginx.block.replace('location / {', `${lines}\n    location / {`)
    const { findings, notChecked } = await examine({ ...nginx, block }, 'closed', ['--look', 'outside'])
    expect([findings, notChecked]).toEqual([[], []])
  })

  for (const { name, proxy, check, change, isOpen, hidesOthers, skips } of BAD_PROXIES) {
    const documented = DOCUMENTED.find((one) => one.name === proxy)
    if (!documented) throw new Error(`no ${proxy}`)
    test.runIf(isInstalled(documented.program))(`finds that ${proxy} ${name}, and says how to fix it`, async () => {
      const block = change(documented.block)
      if (!isOpen) expect(block).not.toBe(documented.block)
      const kind = isOpen ? 'open' : 'closed'
      const { findings, notChecked, exitCode } = await examine({ ...documented, block }, kind, ['--look', 'outside'])
      const found = findings.find((finding) => finding.check === check)
      expect(findings.map((finding) => finding.check)).toContain(check)
      expect(Object.keys(found?.fix ?? {}).length).toBeGreaterThan(0)
      expect(exitCode).toBe(1)
      if (skips) {
        expect(findings.map((finding) => finding.check)).toEqual([check])
        expect(JSON.stringify(findings)).not.toContain('POST /logout')
        const skipped = notChecked.filter(({ reason }) => reason.includes('problem-documents'))
        expect(skipped.map((one) => one.check)).toEqual(skips)
      }
      if (!hidesOthers) return
      expect(findings.map((finding) => finding.check)).toEqual([check])
      expect(notChecked.map((one) => one.check)).toContain('shared-cache')
      for (const { reason } of notChecked) expect(reason).toMatch(/path .* does not arrive/)
    })
  }

  for (const { name, proxy, checks, says, change } of PASTED_PROXIES) {
    const documented = DOCUMENTED.find((one) => one.name === proxy)
    if (!documented) throw new Error(`no ${proxy}`)
    test.runIf(isInstalled(documented.program))(`finds everything when ${proxy} ${name}`, async () => {
      const block = change(documented.block)
      const { findings } = await examine({ ...documented, block }, 'closed', ['--look', 'outside', ...LONG_WAIT])
      expect(findings.map(({ check }) => check)).toEqual(checks)
      for (const { fix } of findings) expect(fix).toHaveProperty(documented.program)
      const problems = findings.map(({ problem }) => problem).join('\n')
      for (const words of says) expect(problems).toContain(words)
    })
  }

  test.runIf(nginx && isInstalled(nginx.program))('recommends a line for nginx that restores a lost path', async () => {
    if (!nginx) throw new Error('nothing is documented')
    const lost = nginx.block.replace(/proxy_pass .*;/, 'proxy_pass http://127.0.0.1:4000/?;')
    const { findings } = await examine({ ...nginx, block: lost }, 'closed', ['--look', 'outside'])
    const { nginx: line = '', ...others } = findings[0]?.fix ?? {}
    // The base path of the gateway already matches the URL.
    expect(Object.keys(others)).not.toContain('gateway')
    const mended = await examine({ ...nginx, block: lost.replace(/proxy_pass .*;/, line) }, 'closed')
    expect(mended.findings).toEqual([])
  })

  test.runIf(nginx && isInstalled(nginx.program))(
    'recommends a line for nginx that names the path of the URL',
    async () => {
      if (!nginx) throw new Error('nothing is documented')
      const below = nginx.block.replace('location / {', 'location /gw/ {').replace(/(proxy_pass .*);/, '$1/;')
      const findingsBehind = async (block: string) => {
        const { port, ca } = await startDocumented({ ...nginx, block }, gateways.get('open')?.url ?? '', certificates)
        const options = [...kinds.open, '--tls-ca', authorityFile(ca), '--look', 'outside']
        return (await look(`https://${NAME}:${port}/gw`, options)).findings
      }
      const findings = await findingsBehind(below)
      expect(findings.map(({ check }) => check)).toEqual(['login-open', 'login-open-graphql'])
      const mended = await findingsBehind(below.replace('location /', `${findings[0]?.fix.nginx}\n    location /`))
      expect(mended.map(({ check }) => check)).toEqual(['login-open-graphql'])
    },
  )

  test.runIf(nginx && isInstalled(nginx.program))(
    'recommends lines for nginx that let through what it refuses',
    async () => {
      if (!nginx) throw new Error('nothing is documented')
      const dots = 'location ~ /\\. { deny all; }'
      const inServer = `large_client_header_buffers 4 1k;\n    location ~ \\.js$ { return 404; }\n    ${dots}`
      const inLocation = 'limit_except GET POST { deny all; }\n        proxy_cache all;'
      const strict = `proxy_cache_path DIRECTORY/cache keys_zone=all:1m;\n${nginx.block.replace(
        'location / {',
        `${inServer}\n    location / {\n        ${inLocation}`,
      )}`
      const { findings } = await examine({ ...nginx, block: strict }, 'closed', ['--look', 'outside'])
      const lines = new Map(findings.map(({ check, fix }) => [check, fix.nginx ?? '']))
      expect([...lines.keys()]).toEqual([
        ...['delete-body', 'authorization', 'pages', 'public-keys', 'conditional-requests', 'preflight'],
      ])
      expect(lines.get('preflight')).toBe(lines.get('delete-body'))
      const block = strict
        .replace('large_client_header_buffers 4 1k;', lines.get('authorization') ?? '')
        .replace('location ~', `${lines.get('pages')}\n    location ~`)
        .replace(dots, lines.get('public-keys') ?? '')
        .replace('limit_except GET POST { deny all; }', lines.get('delete-body') ?? '')
        .replace('proxy_cache all;', `proxy_cache all;\n        ${lines.get('conditional-requests')}`)
      expect((await examine({ ...nginx, block }, 'closed', ['--look', 'outside'])).findings).toEqual([])
    },
  )

  test.runIf(nginx && isInstalled(nginx.program))('recommends a time-out longer than a long wait', async () => {
    if (!nginx) throw new Error('nothing is documented')
    const block = nginx.block.replace('location / {', 'location / {\n        proxy_read_timeout 2s;')
    const { findings } = await examine({ ...nginx, block }, 'closed', ['--look', 'outside', '--lock-timeout', '90000'])
    expect(findings.map(({ check, fix }) => [check, fix.nginx])).toEqual([['time-out', 'proxy_read_timeout 105s;']])
  })

  test.runIf(isInstalled('haproxy'))('finds nothing behind HAProxy without TLS that compresses', async () => {
    const compression = 'compression algo gzip\n  compression type application/json'
    const forwarding = [
      'set-header X-Forwarded-For %[src]',
      'set-header X-Forwarded-Host %[req.hdr(host)]',
      'del-header Forwarded',
    ]
    const rules = forwarding.map((rule) => `http-request ${rule}`)
    const url = await startHaproxy(gateways.get('closed')?.url ?? '', '', [compression, ...rules].join('\n  '))
    const { findings } = await look(url, [...kinds.closed, '--look', 'outside'])
    expect(findings).toEqual([])
  })

  test.runIf(isInstalled('apache2'))(
    'finds nothing behind Apache that compresses, and recommends lines that let through what it refuses and changes',
    async () => {
      const { host } = new URL(gateways.get('closed')?.url ?? '')
      const good = 'ProxyPreserveHost On\nRequestHeader unset Forwarded\nAddOutputFilterByType DEFLATE application/json'
      const bad = [
        ...['ProxyTimeout 3', 'LimitRequestFieldSize 2000', 'ExpiresActive On', 'ExpiresDefault "access plus 1 month"'],
        ...['<Location />', 'AllowMethods GET POST', '</Location>'],
        ...['Header set Vary Origin', 'Header set Access-Control-Allow-Origin "*"'],
        ...['AddOutputFilterByType SUBSTITUTE application/json', 'Substitute s/project/design/'],
      ]
      const findingsBehind = async (...all: readonly (readonly string[])[]) => {
        const ports = await freePorts('127.0.0.1', all.length)
        const hosts = all.map((lines, index) => {
          const own = `127.0.0.1:${ports[index]}`
          return `Listen ${own}\n<VirtualHost ${own}>\nProxyPass / http://${host}/\n${good}\n${lines.join('\n')}\n</VirtualHost>`
        })
        const files = [{ name: 'proxy.conf', text: apacheFrame(hosts.join('\n')) }]
        await startProxy({ program: 'apache2', files, ports })
        const options = [...kinds.closed, '--look', 'outside', ...LONG_WAIT]
        const reports = await Promise.all(ports.map((port) => look(`http://127.0.0.1:${port}`, options)))
        return reports.map(({ findings }) => findings)
      }
      const [silent, findings = []] = await findingsBehind([], bad)
      expect(silent).toEqual([])
      expect(findings.map(({ check }) => check)).toEqual([
        ...['delete-body', 'authorization', 'time-out', 'bytes', 'vary', 'shared-cache', 'cors', 'preflight'],
      ])
      const lines = new Map(findings.map(({ check, fix }) => [check, fix.apache ?? '']))
      const mended = bad.flatMap((line) => {
        if (line.startsWith('ProxyTimeout')) return lines.get('time-out') ?? []
        if (line.startsWith('Limit')) return lines.get('authorization') ?? []
        if (line.startsWith('Allow')) return lines.get('delete-body') ?? []
        if (line === 'ExpiresActive On') return lines.get('shared-cache')?.split(',')[0] ?? []
        return /^(?:Header|Substitute)/.test(line) ? [] : line
      })
      expect(await findingsBehind(mended)).toEqual([[]])
    },
  )

  test.runIf(isInstalled('caddy'))('recommends a line for Caddy that accepts longer bodies', async () => {
    const caddy = DOCUMENTED.find(({ program }) => program === 'caddy')
    if (!caddy) throw new Error('nothing is documented')
    const short = caddy.block.replace(
      'reverse_proxy',
      'request_body {\n        max_size 10KB\n    }\n    reverse_proxy',
    )
    const { findings } = await examine({ ...caddy, block: short }, 'closed', ['--look', 'outside'])
    expect(findings.map(({ check }) => check)).toEqual(['body-limit'])
    const block = short.replace('max_size 10KB', findings[0]?.fix.caddy ?? '')
    expect((await examine({ ...caddy, block }, 'closed', ['--look', 'outside'])).findings).toEqual([])
  })

  test.runIf(['nginx', 'haproxy'].every((program) => isInstalled(program as 'nginx')))(
    'finds that HAProxy refuses the body of a DELETE over HTTP/1.0, and each recommended line fixes it',
    async () => {
      if (!nginx) throw new Error('nothing is documented')
      const gatewayUrl = gateways.get('closed')?.url ?? ''
      const examineBehind = async (haproxyUrl: string, block: string) => {
        const { port, ca } = await startDocumented({ ...nginx, block }, haproxyUrl, certificates)
        const options = [...kinds.closed, '--tls-ca', authorityFile(ca), '--look', 'outside']
        const { findings } = await look(`https://${NAME}:${port}`, options)
        return findings.find(({ check }) => check === 'delete-body')
      }
      const old = nginx.block.replace('proxy_http_version 1.1;', 'proxy_http_version 1.0;')
      expect(old).not.toBe(nginx.block)
      const strict = await startHaproxy(gatewayUrl)
      const found = await examineBehind(strict, old)
      expect(found?.problem).toContain('413')
      const { nginx: ofNginx = '', haproxy: ofHaproxy = '' } = found?.fix ?? {}
      expect(await examineBehind(strict, old.replace('proxy_http_version 1.0;', ofNginx))).toBeUndefined()
      expect(await examineBehind(await startHaproxy(gatewayUrl, ofHaproxy), old)).toBeUndefined()
    },
  )

  test.runIf(isInstalled('haproxy'))('finds a missing PROXY header, and an unexpected one', async () => {
    const documented = DOCUMENTED.find(({ proxyProtocol }) => proxyProtocol)
    if (!documented) throw new Error('nothing is documented')
    const { findings } = await examine(documented, 'closed', ['--look', 'outside'])
    expect(findings.map(({ fix }) => fix.gateway)).toEqual(['--proxy-protocol'])
    const bare = { ...documented, block: documented.block.replace(' send-proxy-v2-ssl', '') }
    const { port, ca } = await startDocumented(bare, gateways.get('protocol')?.url ?? '', certificates)
    const options = ['--connect-to', '127.0.0.1', '--tls-ca', authorityFile(ca), '--database', database]
    const saidWith = async (kind: keyof typeof kinds) =>
      (await runHere(['doctor', `https://${NAME}:${port}`, ...options, ...kinds[kind]])).stderr
    expect(await saidWith('protocol')).toMatch(
      /nothing answers.*\n.*server gateway 127\.0\.0\.1:4000 send-proxy-v2-ssl/,
    )
    expect(await saidWith('closed')).not.toContain('send-proxy')
  })

  test('finds unencrypted HTTP', async () => {
    const { port } = new URL(gateways.get('closed')?.url ?? '')
    const { findings } = await look(`http://${NAME}:${port}`, ['--look', 'outside', '--login-guard', 'none'])
    expect(findings.map(({ check }) => check)).toContain('tls')
  })

  test.runIf(nginx && isInstalled(nginx.program))(
    'finds a certificate that clients refuse, one that expires soon, and a wrong clock',
    async () => {
      if (!nginx) throw new Error('nothing is documented')
      const { port, ca } = await startDocumented(nginx, gateways.get('closed')?.url ?? '', certificates)
      const url = `https://${NAME}:${port}`
      const options = [...kinds.closed, '--look', 'outside']
      const refused = await look(url, options)
      expect(refused.findings).toMatchObject([{ check: 'tls-certificate', problem: expect.stringContaining('refuse') }])
      const later = await look(url, [...options, '--tls-ca', authorityFile(ca)], () => Date.now() + 20 * DAY_MS)
      const found = later.findings.map(({ check, problem }) => `${check}: ${problem}`).join('\n')
      expect(found).toMatch(/^tls-certificate: the certificate expires in [89] days$/m)
      // Twenty days, less the duration of the answer and the fraction of a second that it does not contain.
      expect(found).toMatch(
        /^clock: the clock of the proxy or the gateway and the clock here differ by 172[78]\d{3} s/m,
      )
    },
  )

  test.runIf(nginx && isInstalled(nginx.program))('finds metrics that anybody can read', async () => {
    if (!nginx) throw new Error('nothing is documented')
    const watched = await serveForTest(['--database', database, ...kinds.closed, '--admin-port', '0'])
    const admin = /"url":"(\S+?)","msg":"metrics and health/.exec(watched.stderr())?.[1]
    const block = nginx.block.replace('location / {', `location /metrics { proxy_pass ${admin}; }\n    location / {`)
    const { findings } = await examine({ ...nginx, block }, 'closed', ['--look', 'outside'])
    expect(findings.map(({ check }) => check)).toEqual(['metrics-open'])
  })
})
