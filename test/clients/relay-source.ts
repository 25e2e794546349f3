// Builds a Relay application with the real relay-compiler; its fragments can refetch themselves.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ConcreteRequest, ReaderFragment } from 'relay-runtime'
import { makeDirectory, removeDirectory } from '../support/temporary-directory.ts'

const SCHEMA = fileURLToPath(new URL('../../schema.graphql', import.meta.url))
const COMPILER = fileURLToPath(new URL('../../node_modules/relay-compiler/cli.js', import.meta.url))

const FIELDS = {
  User: 'email',
  Project: 'name',
  Template: 'name',
  UiLibrary: 'name',
  Export: 'createdAt elements { content }',
  ExportElement: 'content',
  Session: 'current',
} as const

export type NodeType = keyof typeof FIELDS
export const NODE_TYPES = Object.keys(FIELDS) as readonly NodeType[]

export const refetchQuery = (type: NodeType): string => `appRefetch${type}Query`

/** A module of the application. Relay requires that its names begin with the name of the module. */
const APP = `
import { graphql } from 'relay-runtime'
${NODE_TYPES.map(
  (type) => `graphql\`
  fragment app${type} on ${type} @refetchable(queryName: "${refetchQuery(type)}") { ${FIELDS[type]} }\``,
).join('\n')}
graphql\`
  fragment appProjects on User @refetchable(queryName: "appProjectsPageQuery")
  @argumentDefinitions(first: { type: "Int" } after: { type: "String" } last: { type: "Int" } before: { type: "String" }) {
    projectsConnection(first: $first, after: $after, last: $last, before: $before) @connection(key: "appProjects_projectsConnection") {
      edges { node { documentId } }
    }
  }\`
graphql\`
  fragment appElements on Export @refetchable(queryName: "appElementsPageQuery")
  @argumentDefinitions(first: { type: "Int", defaultValue: 2 } after: { type: "String" }) {
    elementsConnection(first: $first, after: $after) @connection(key: "appElements_elementsConnection") {
      edges { node { content } }
    }
  }\`
graphql\`
  query appEverythingQuery {
    me { id ...appUser email
      project(ref: "same") { id name ...appProject exports { id createdAt ...appExport elements { id documentId content ...appExportElement } } }
      templates { id name ...appTemplate }
      uiLibraries { id name ...appUiLibrary }
    }
  }\`
graphql\`query appSessionsQuery { me { id sessions { id ...appSession } } }\`
graphql\`query appFirstProjectsQuery { me { id ...appProjects @arguments(first: 2) } }\`
graphql\`query appLastProjectsQuery { me { id ...appProjects @arguments(last: 2) } }\`
graphql\`query appFirstElementsQuery { me { project(ref: "same") { exports { id ...appElements } } } }\`
`

/** The compiler's output, available until it is disposed of. */
export interface CompiledApp extends Disposable {
  readonly operation: (name: string) => ConcreteRequest
  readonly fragment: (name: string) => ReaderFragment
}

/** Throws with the compiler's message when the compiler rejects the application or the schema. */
export function compileApp(): CompiledApp {
  const directory = makeDirectory()
  copyFileSync(SCHEMA, join(directory, 'schema.graphql'))
  mkdirSync(join(directory, 'src'))
  writeFileSync(join(directory, 'src', 'app.js'), APP)
  mkdirSync(join(directory, 'artifacts'))
  const config = { src: './src', schema: './schema.graphql', language: 'javascript', artifactDirectory: './artifacts' }
  writeFileSync(join(directory, 'relay.config.json'), JSON.stringify({ ...config, eagerEsModules: false }))
  execFileSync(process.execPath, [COMPILER, 'relay.config.json'], { cwd: directory, stdio: 'pipe' })
  const require = createRequire(join(directory, 'artifacts', 'artifacts.js'))
  return {
    operation: (name) => require(`./${name}.graphql.js`) as ConcreteRequest,
    fragment: (name) => require(`./${name}.graphql.js`) as ReaderFragment,
    [Symbol.dispose]: () => removeDirectory(directory),
  }
}
