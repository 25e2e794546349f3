// Generates the documents of the import benchmark and of the insert loop that it is compared with.

export const DOCUMENTS = 1_000_000
const DOCUMENTS_PER_USER = 50

export interface ImportedDocument {
  readonly user: number
  readonly position: number
  readonly email: string
  readonly id: string
  readonly ref: string
  readonly text: string
}

export function documentOf(index: number): ImportedDocument {
  const user = Math.floor(index / DOCUMENTS_PER_USER) + 1
  const [id, ref] = [`prj_${index}`, `ref-${index}`]
  const text = `{"id":"${id}","ref":"${ref}","name":"Project ${index}","description":"The quiet harbour of the copper river, number ${index % 977}","framework":"react","tags":["meadow","ember"],"createdAt":"2026-01-01T00:00:00Z"}`
  return { user, position: (index % DOCUMENTS_PER_USER) + 1, email: `user${user}@example.com`, id, ref, text }
}
