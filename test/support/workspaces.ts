// Workspaces as import lines.

export interface ExportLine {
  readonly r: string
  readonly createdAt: string
  /** JSON texts. */
  readonly elements: readonly string[]
}

/** `data` is JSON text, kept as it is. */
export function documentLine(kind: 'project' | 'template' | 'uiLibrary', email: string, data: string): string {
  return `{"kind":"${kind}","email":${JSON.stringify(email)},"data":${data}}\n`
}

export function exportLine(email: string, { r, createdAt, elements }: ExportLine): string {
  return `{"kind":"export","email":${JSON.stringify(email)},"r":${JSON.stringify(r)},"createdAt":"${createdAt}","data":[${elements.join(',')}]}\n`
}

/** Ana has two projects (one with two exports), a template and a UI library; Ben has one project with an export. */
export const ANA = 'ana@example.com'
export const BEN = 'ben@example.com'
export const SMALL_WORLD = [
  documentLine('project', ANA, '{"id":"p1","ref":"site","name":"Site","tags":["a","b"],"n":12345678901234567890}'),
  exportLine(ANA, { r: 'site', createdAt: '2026-01-01T00:00:00Z', elements: ['{"path":"old.html"}'] }),
  exportLine(ANA, { r: 'site', createdAt: '2026-02-01T00:00:00Z', elements: ['{"path":"new.html"}', '1.0'] }),
  documentLine('project', ANA, '{"id":"p2","ref":"app","name":"App"}'),
  documentLine('template', ANA, '{"id":"t1","name":"Landing"}'),
  documentLine('uiLibrary', ANA, '{"id":"u1","name":"Buttons"}'),
  documentLine('project', BEN, '{"id":"p1","ref":"secret","name":"Secret of ben"}'),
  exportLine(BEN, { r: 'secret', createdAt: '2026-01-01T00:00:00Z', elements: ['{"path":"ben.txt"}'] }),
].join('')
