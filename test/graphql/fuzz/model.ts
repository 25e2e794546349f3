// Three workspaces as plain objects, from which the oracle answers, and as import lines, which the gateway stores.
import { createHash } from 'node:crypto'
import { documentLine, exportLine } from '../../support/workspaces.ts'

/** Names that only the gateway can give: learned from it, opaque to everybody else. */
export interface Learned {
  cursor: string
  /** Null if the schema has no global ids. */
  id: string | null
}

export interface ModelUser {
  readonly __typename: 'User'
  readonly email: string
  readonly projects: readonly ModelProject[]
  readonly templates: readonly ModelItem[]
  readonly uiLibraries: readonly ModelItem[]
  /** Learned from the gateway, too. */
  readonly sessions: ModelSession[]
  readonly learned: Learned
}

export interface ModelSession {
  readonly __typename: 'Session'
  /** Its fields, as the gateway first returned them. */
  readonly told: Readonly<Record<string, unknown>>
  readonly learned: Learned
}

export interface ModelItem {
  readonly __typename: 'Template' | 'UiLibrary'
  readonly text: string
  readonly learned: Learned
}

export interface ModelProject {
  readonly __typename: 'Project'
  readonly text: string
  readonly ref: string
  /** Newest first. */
  readonly exports: readonly ModelExport[]
  readonly learned: Learned
}

export interface ModelExport {
  readonly __typename: 'Export'
  readonly ref: string
  readonly createdAt: string
  readonly elements: readonly ModelElement[]
  readonly text: string
  readonly digest: string
  readonly learned: Learned
}

export interface ModelElement {
  readonly __typename: 'ExportElement'
  readonly text: string
  readonly learned: Learned
}

export type ModelObject = ModelUser | ModelSession | ModelProject | ModelItem | ModelExport | ModelElement

export interface Model {
  readonly users: readonly ModelUser[]
  readonly ndjson: string
}

interface ProjectSource {
  readonly ref: string
  readonly text: string
  /** In the order of the import; the newest has the latest instant, however that is written. */
  readonly exports?: readonly { readonly createdAt: string; readonly elements: readonly string[] }[]
}

interface UserSource {
  readonly email: string
  readonly projects: readonly ProjectSource[]
  readonly templates: readonly string[]
  readonly uiLibraries: readonly string[]
}

const ELEMENTS = [
  '{"id":"e1","path":"index.html","type":"file","kind":"page","content":"<h1>\\u00e9 \\"q\\"</h1>"}',
  '{"id":1,"name":"style","path":"a.css","content":""}',
  '1.0',
  'null',
  '[1,{"path":"not a field"}]',
  '"text"',
  '{"id":9007199254740993,"path":7,"content":["x"]}',
]

/** Longer than what the gateway joins or sends at once. */
const LONG_ELEMENTS = [
  ...Array.from({ length: 40 }, (_, index) => `{"id":${index},"path":"src/${index}.ts","kind":"k${index % 7}"}`),
  `{"id":"long","path":"long.txt","content":"${'é\\n'.repeat(24_000)}"}`,
  '{"id":"last","path":"last.txt","content":"the end"}',
]

/**
 * Documents as design tools and imports leave them: members that are missing, of other types, duplicate or escaped, and
 * numbers beyond 2^53.
 */
const USERS: readonly UserSource[] = [
  {
    email: 'ana@example.com',
    projects: [
      {
        ref: 'site',
        text: '{"id":"p1","ref":"site","name":"Site","tags":["a","b"],"version":"1.0","n":12345678901234567890,"x":1.0,"framework":"react","description":"Of ana","createdAt":"2026-01-01","updatedAt":null}',
        exports: [
          { createdAt: '2026-01-01T00:00:00Z', elements: ELEMENTS },
          { createdAt: '2026-02-01T01:00:00+02:00', elements: ELEMENTS.slice(0, 2) },
          { createdAt: '2026-01-31T23:30:00Z', elements: ELEMENTS.slice(1, 6) },
        ],
      },
      {
        ref: 'app',
        text: '{ "ref" : "app" , "name":"first", "name":"\\u0041pp \\ud83d\\ude00 \\"q\\" \\\\ \\/ \\u2028 é" , "tags":[ ] , "id": 12345678901234567890123 }',
        exports: [{ createdAt: '2026-03-01T00:00:00.500Z', elements: ['{"path":"only","id":"e1"}'] }],
      },
      { ref: 'slug-only', text: '{"id":1.0,"slug":"slug-only","tags":["a",1],"name":5,"version":{"name":"nested"}}' },
      {
        ref: 'u-5',
        text: '{"uuid":"u-5","name":"","description":"\\ud800 alone","tags":null,"constructor":1,"id":null}',
      },
      {
        ref: 'escaped',
        text: '{"id":"p9","r\\u0065f":"escaped","n\\u0061me" :\t"by an escaped name","tags":[ "a" ,\t"\\u0062" ],"description":{"name":"inner"},"framework":"re\\u0061ct"}',
        exports: [
          {
            createdAt: '2026-01-01T00:00:00Z',
            elements: ['{"p\\u0061th":"x", "kind" : "k","content":"\\ud83d\\ude00"}'],
          },
        ],
      },
      {
        ref: 'then',
        text: '{"id":"same","ref":"then","then":"x","toJSON":"y","name":"null","framework":false,"tags":["\\n"]}',
        exports: [
          { createdAt: '2026-01-01T00:00:00Z', elements: [] },
          { createdAt: '2025-01-01T00:00:00Z', elements: ['{}', '[]', '{"id":"e1","name":"n","kind":"k","type":"t"}'] },
        ],
      },
    ],
    templates: [
      '{"id":"same","name":"Landing","kind":"page","type":"block","tags":["x"],"version":"2"}',
      '{"name":"no id","kind":1,"type":null,"updatedAt":"2026-01-02T00:00:00Z"}',
      '{"id":"p1","name":"Same id as a project"}',
    ],
    uiLibraries: ['{"id":"same","name":"Buttons","framework":"react"}'],
  },
  {
    email: 'ben@example.com',
    projects: [
      {
        ref: 'site',
        text: '{"id":"p1","ref":"site","name":"Site of ben","tags":["b"]}',
        exports: [{ createdAt: '2026-01-01T00:00:00Z', elements: ['{"id":"e1","path":"ben.txt"}'] }],
      },
    ],
    templates: [],
    uiLibraries: ['{"id":"same","name":"Of ben","tags":[]}'],
  },
  {
    email: 'cyd@example.com',
    projects: [
      { ref: 'long', text: '{"id":"long"}', exports: [{ createdAt: '2026-01-01T00:00:00Z', elements: LONG_ELEMENTS }] },
    ],
    templates: [],
    uiLibraries: [],
  },
]

export function createModel(): Model {
  return { users: USERS.map(toUser), ndjson: USERS.map(linesOf).join('') }
}

function linesOf({ email, projects, templates, uiLibraries }: UserSource): string {
  return [
    ...projects.flatMap(({ ref, text, exports = [] }) => [
      documentLine('project', email, text),
      ...exports.map((one) => exportLine(email, { r: ref, ...one })),
    ]),
    ...templates.map((text) => documentLine('template', email, text)),
    ...uiLibraries.map((text) => documentLine('uiLibrary', email, text)),
  ].join('')
}

function toUser({ email, projects, templates, uiLibraries }: UserSource): ModelUser {
  return {
    __typename: 'User',
    email,
    projects: projects.map(toProject),
    templates: templates.map((text) => ({ __typename: 'Template', text, learned: nothingLearned() })),
    uiLibraries: uiLibraries.map((text) => ({ __typename: 'UiLibrary', text, learned: nothingLearned() })),
    sessions: [],
    learned: nothingLearned(),
  }
}

function toProject({ ref, text, exports = [] }: ProjectSource): ModelProject {
  const newestFirst = exports.toSorted((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt))
  return {
    __typename: 'Project',
    text,
    ref,
    learned: nothingLearned(),
    exports: newestFirst.map(({ createdAt, elements }) => {
      const whole = `[${elements.join(',')}]`
      return {
        __typename: 'Export',
        ref,
        createdAt,
        text: whole,
        digest: createHash('sha256').update(whole).digest('hex'),
        elements: elements.map((element) => ({
          __typename: 'ExportElement',
          text: element,
          learned: nothingLearned(),
        })),
        learned: nothingLearned(),
      }
    }),
  }
}

function nothingLearned(): Learned {
  return { cursor: '', id: null }
}

/** Every object that belongs to a user, and the user. */
export function objectsOf(user: ModelUser): readonly ModelObject[] {
  const exports = user.projects.flatMap((project) => project.exports)
  return [
    user,
    ...user.sessions,
    ...user.projects,
    ...user.templates,
    ...user.uiLibraries,
    ...exports,
    ...exports.flatMap(({ elements }) => elements),
  ]
}
