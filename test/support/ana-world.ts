// The changes that store a small workspace: a project, a template, and an export of one element.
import type { Change } from '../../src/store/contract.ts'

export const ANA_WORLD: readonly Change[] = [
  { type: 'putDocument', email: 'ana@example.com', kind: 'project', id: 'p', ref: 'r', text: '{"id":"p"}' },
  { type: 'putDocument', email: 'ana@example.com', kind: 'template', id: 't', ref: null, text: '{"id":"t"}' },
  { type: 'stageExport', stage: 's', email: 'ana@example.com', ref: 'r', createdAt: '', instant: '', now: 0 },
  { type: 'stageElements', stage: 's', position: 1, texts: ['1'], now: 0 },
  { type: 'sealExport', stage: 's', digest: 'd', byteLength: 3, elementCount: 1 },
]
