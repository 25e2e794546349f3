// Opens the key source for a setting: a file, a URL, the issuer's discovery document, or one URL per key.
import { createReadStream } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import type { JSONWebKeySet } from 'jose'
import { exportJWK } from 'jose/key/export'
import { importSPKI } from 'jose/key/import'
import { unreadable } from '../../../../errors.ts'
import { memberOf } from '../../../../member-of.ts'
import { fetchText, isSafeUrl, MAX_BYTES } from './fetch-text.ts'
import { createJwksSource } from './jwks-source.ts'
import type { KeySource, KeySourceOptions } from './key-source.ts'
import { createPemSource } from './pem-source.ts'

const KID_PLACE = '{kid}'

/** `discovery`: the URL of an issuer (OpenID Connect Discovery 1.0 section 4). */
export type KeysAt =
  | { readonly type: 'discovery'; readonly issuer: string }
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'file'; readonly path: string; readonly algorithm: string }

export function openKeySource(at: KeysAt, options: KeySourceOptions): KeySource {
  if (at.type === 'discovery') return createJwksSource(() => loadDiscovered(at.issuer), options)
  if (at.type === 'file')
    return createJwksSource(async () => parseKeyFile(await readKeyFile(at.path), at.algorithm), options)
  const { url } = at
  return url.includes(KID_PLACE)
    ? createPemSource((kid) => fetchText(url.replace(KID_PLACE, kid)), options)
    : createJwksSource(async () => parseKeys(await fetchText(url)), options)
}

async function loadDiscovered(issuer: string): Promise<JSONWebKeySet> {
  const document: unknown = JSON.parse(await fetchText(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`))
  const keysUrl = memberOf(document, 'jwks_uri')
  if (memberOf(document, 'issuer') !== issuer) throw new Error('the discovery document names another issuer')
  if (typeof keysUrl !== 'string' || !isSafeUrl(keysUrl))
    throw new Error('the discovery document has no jwks_uri with https://')
  return parseKeys(await fetchText(keysUrl))
}

/**
 * The problem with a key file, checked at start-up, because otherwise the first sign-in would find it. Null if there is
 * none, or if the keys are not in a file.
 */
export async function keyFileProblem(at: KeysAt): Promise<string | null> {
  if (at.type !== 'file') return null
  const { path, algorithm } = at
  let text: string
  try {
    text = await readKeyFile(path)
  } catch (error) {
    return unreadable(path, error)
  }
  try {
    const { keys } = await parseKeyFile(text, algorithm)
    if (keys.length > 0) return null
  } catch {
    // Omits the reason, which may quote a private key that somebody put into the file.
  }
  return `${path} must hold a JWK set with a key, or one public key for ${algorithm} as PEM`
}

/** Throws for more than `MAX_BYTES`: a device such as /dev/zero has no end. */
async function readKeyFile(path: string): Promise<string> {
  const bytes = await buffer(createReadStream(path, { end: MAX_BYTES }))
  if (bytes.byteLength > MAX_BYTES) throw new Error(`it is longer than ${MAX_BYTES / 1_024} KiB`)
  return bytes.toString('utf8')
}

/** Parses a JWK Set in JSON, or one public key in PEM. */
async function parseKeyFile(text: string, algorithm: string): Promise<JSONWebKeySet> {
  if (!text.includes('-----BEGIN')) return parseKeys(text)
  return { keys: [await exportJWK(await importSPKI(text, algorithm))] }
}

function parseKeys(text: string): JSONWebKeySet {
  const parsed: unknown = JSON.parse(text)
  const keys: unknown = memberOf(parsed, 'keys')
  if (!Array.isArray(keys) || !keys.every(isObject)) throw new Error('the response is not a JSON Web Key Set')
  return { keys }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
