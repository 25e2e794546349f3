// Creates a certificate authority for one test, and the certificates that it signs.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import forge from 'node-forge'

export interface Certificate {
  /** Both are PEM. */
  readonly certificate: string
  readonly key: string
}

export interface Authority extends Certificate {
  /** Signs for these DNS names and addresses; valid from yesterday, for `days` days from then. */
  readonly sign: (commonName: string, hosts: readonly string[], days?: number) => Certificate
}

const DAY_MS = 86_400_000
const ADDRESS = /^[\d.]+$|:/
/** The types of alternative names (RFC 5280 section 4.2.1.6). */
const [DNS_NAME, IP_ADDRESS] = [2, 7]

export function createAuthority(name: string): Authority {
  const own = generateKeys()
  const subject = [{ name: 'commonName', value: name }]
  const extensions = [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, critical: true },
  ]
  return {
    key: own.privateKey,
    certificate: signed(own.publicKey, subject, extensions, 30),
    sign(commonName, hosts, days = 30) {
      const { publicKey, privateKey } = generateKeys()
      const altNames = hosts.map((host) =>
        ADDRESS.test(host) ? { type: IP_ADDRESS, ip: host } : { type: DNS_NAME, value: host },
      )
      const named = altNames.length === 0 ? [] : [{ name: 'subjectAltName', altNames }]
      return {
        key: privateKey,
        certificate: signed(publicKey, [{ name: 'commonName', value: commonName }], named, days),
      }
    },
  }

  function signed(publicKey: string, of: forge.pki.CertificateField[], with_: object[], days: number): string {
    const certificate = forge.pki.createCertificate()
    certificate.publicKey = forge.pki.publicKeyFromPem(publicKey)
    // Starts with 01, so that the number is positive: a leading bit of 1 would be read as a sign.
    certificate.serialNumber = `01${randomBytes(8).toString('hex')}`
    certificate.validity.notBefore = new Date(Date.now() - DAY_MS)
    certificate.validity.notAfter = new Date(Date.now() + (days - 1) * DAY_MS)
    certificate.setSubject(of)
    certificate.setIssuer(subject)
    certificate.setExtensions(with_)
    certificate.sign(forge.pki.privateKeyFromPem(own.privateKey), forge.md.sha256.create())
    return forge.pki.certificateToPem(certificate)
  }
}

function generateKeys(): { readonly publicKey: string; readonly privateKey: string } {
  return generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
}
