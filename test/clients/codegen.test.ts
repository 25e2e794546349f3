// Runs graphql-codegen with the configuration of the guide for frontends and checks the types that it generates.
import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))
const GUIDE = new URL('../../docs/guide/frontends.md', import.meta.url)
const CONFIGURATION = new URL('codegen.yml', import.meta.url)

/** A TypeScript file of a frontend, which may be a component of React. */
const APP = new URL('codegen-app.txt', import.meta.url)

/** As the React template of Vite has it, with `verbatimModuleSyntax`. */
const TYPESCRIPT = {
  compilerOptions: {
    strict: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    verbatimModuleSyntax: true,
    jsx: 'preserve',
    noEmit: true,
  },
  include: ['src'],
}

/** A frontend with the packages that the guide names and no others, as pnpm installs them. */
async function createFrontend() {
  const [, sentence = ''] = /Install (.*?) in the\s+frontend/s.exec(await readFile(GUIDE, 'utf8')) ?? []
  const names = [...sentence.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  const directory = temporaryDirectory()
  for (const name of names) {
    const path = join(directory, 'node_modules', name)
    await mkdir(dirname(path), { recursive: true })
    await symlink(join(MODULES, name), path)
  }
  await mkdir(join(directory, 'src'))
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(TYPESCRIPT))
  const run = (program: string, ...args: readonly string[]) =>
    promisify(execFile)(process.execPath, [join(directory, 'node_modules', program), ...args], { cwd: directory })
  return { path: (...names: readonly string[]) => join(directory, ...names), run }
}

test('the client preset generates a type for every answer, without a token, and the packages of the guide compile it', async () => {
  // Every guard but the default implies this setting: introspection through GraphQL requires a sign-in.
  const { url } = await startGateway({ graphqlValues: { introspection: 'signed-in' } })
  const { path, run } = await createFrontend()
  const shown = await readFile(CONFIGURATION, 'utf8')
  await writeFile(path('codegen.yml'), shown.replace('http://127.0.0.1:4000', url))
  await copyFile(APP, path('src', 'app.tsx'))
  await run('@graphql-codegen/cli/esm/bin.js', '--config', 'codegen.yml')
  const types = await readFile(path('src', 'gql', 'graphql.ts'), 'utf8')
  const project = '{ name: string | null, tags: Array<string> | null, data: unknown }'
  expect(types).toContain(`export type AppQuery = { me: { project: ${project} | null } | null };`)
  expect(types).toMatch(/export type AppQueryVariables = Exact<\{\s*ref: string;\s*\}>;/)
  const compiled = await run('typescript/bin/tsc').catch(({ stdout }) => ({ stdout }))
  expect(compiled.stdout).toBe('')
})
