// Serves the built pages (`npm run build`): an HTML shell, and hashed files whose content never changes under their
// name.
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { GatewayError } from '../errors.ts'
import type { Endpoint } from '../http/handler.ts'
import { type Coding, createAcceptEncodingReader } from '../http/negotiation/content-coding.ts'
import type { GatewayRequest } from '../http/request.ts'
import { type GatewayResponse, type Headers, withHeaders } from '../http/response.ts'

const BUILD_FOLDER = new URL('../../dist/explorer/', import.meta.url)
const ASSETS = 'assets/'

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  ttf: 'font/ttf',
  woff2: 'font/woff2',
}

const GZIP = '.gz'
/** The compressed variants that the build makes of each file: the content coding and its file extension. */
const ENCODINGS: ReadonlyMap<Coding, string> = new Map([
  ['br', '.br'],
  ['gzip', GZIP],
])

export interface ExplorerBuild {
  readonly shell: string
  readonly files: readonly Endpoint[]
}

/** Returns null when nothing is built. Files are read on first request, and cached. */
export async function openExplorerBuild(folder: URL = BUILD_FOLDER): Promise<ExplorerBuild | null> {
  try {
    const shell = await readFile(new URL('index.html', folder), 'utf8')
    const names = (await readdir(new URL(ASSETS, folder)))
      .filter((name) => name.endsWith(GZIP))
      .map((name) => name.slice(0, -GZIP.length))
    const files = names.map((name) => fileEndpoint(new URL(ASSETS, folder), name))
    const icon = files.find(({ path }) => /\/icon-[^/]*\.svg$/.test(path))
    return { shell, files: icon ? [...files, favicon(icon)] : files }
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

function fileEndpoint(folder: URL, name: string): Endpoint {
  const readAcceptEncoding = createAcceptEncodingReader([...ENCODINGS.keys()])
  const kept = new Map<string, Promise<Uint8Array>>()
  const headers: Headers = {
    'content-type': CONTENT_TYPES[extensionOf(name)] ?? '',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'Accept-Encoding',
  }

  /** A newer build has replaced the files: those of the old one no longer exist. */
  async function load(file: string): Promise<Uint8Array> {
    try {
      if (file !== name) return await readFile(new URL(file, folder))
      // For the few clients that accept no coding.
      return await promisify(gunzip)(await read(name + GZIP))
    } catch (error) {
      kept.delete(file)
      throw isMissing(error) ? new GatewayError('NOT_FOUND', { cause: error }) : error
    }
  }

  function read(file: string): Promise<Uint8Array> {
    const bytes = kept.get(file) ?? load(file)
    kept.set(file, bytes)
    return bytes
  }

  async function handle(request: GatewayRequest): Promise<GatewayResponse> {
    const { coding } = readAcceptEncoding(request.header('accept-encoding'))
    if (coding === null) return { status: 200, headers, body: await read(name) }
    const body = await read(name + (ENCODINGS.get(coding) ?? ''))
    return { status: 200, headers: { ...headers, 'content-encoding': coding }, body }
  }

  return { method: 'GET', path: `/${ASSETS}${name}`, handle }
}

/** Browsers request `/favicon.ico` when a response is not a page. The name is not hashed, so its content may change. */
function favicon({ handle }: Endpoint): Endpoint {
  return {
    method: 'GET',
    path: '/favicon.ico',
    async handle(request) {
      return withHeaders(await handle(request), { 'cache-control': 'public, max-age=86400' })
    },
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}

function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}
