// The content of the databases of earlier commits, and what is known about each.
import { ANA, BEN, documentLine, exportLine } from '../support/workspaces.ts'

export const WORLD_USER = ANA

/** Documents whose text matters beyond their values: spacing, large numbers, escapes, duplicate keys. */
export const WORLD = [
  documentLine('project', ANA, '{"id":"p1","ref":"site","name":"Site","n":12345678901234567890, "x": 1.0}'),
  documentLine('project', ANA, String.raw`{"id":"p2","ref":"app","name":"Größe \u00e9 ' \" \\","id":"p2"}`),
  exportLine(ANA, { r: 'site', createdAt: '2026-01-01T00:00:00Z', elements: ['{"path":"old.html"}'] }),
  exportLine(ANA, { r: 'site', createdAt: '2026-02-01T00:00:00Z', elements: ['{"path":"new.html"}', '1.0', ' "🙂" '] }),
  documentLine('template', ANA, '{"id":"t1","name":"Landing"}'),
  documentLine('template', ANA, '{"id":"t2","tags":[ "a" , "b" ]}'),
  documentLine('uiLibrary', ANA, '{"id":"u1","name":"Buttons"}'),
  documentLine('project', BEN, '{"id":"p1","ref":"site","name":"Of ben"}'),
  exportLine(BEN, { r: 'site', createdAt: '2026-01-01T00:00:00Z', elements: ['{"path":"ben.txt"}'] }),
].join('')

export const READS = ['/projects', '/templates', '/ui-libraries', '/exports?r=site'] as const

/** The first line of a fixture: what the commit that made it answered. */
export interface Upgraded {
  /** Milliseconds since the epoch, a moment after the tokens were issued. */
  readonly at: number
  readonly accessToken: string
  readonly refreshToken: string
  /** A refresh token that was logged out. */
  readonly ended: string
  /** Keyed by path. */
  readonly bodies: Readonly<Record<string, string>>
}
