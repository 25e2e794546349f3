// Runs graphql-codegen with the configuration of the guide for frontends and checks the types that it generates.
import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))
const CONFIGURATION = new URL('codegen.yml', import.meta.url)

/** A TypeScript file of a frontend. */
const APP = new URL('codegen-app.txt', import.meta.url)

test('the client preset generates a type for every answer, from a schema that it fetched without a token', async () => {
  // Every guard but the default implies this setting: introspection through GraphQL requires a sign-in.
  const { url } = await startGateway({ graphqlValues: { introspection: 'signed-in' } })
  const directory = temporaryDirectory()
  const shown = await readFile(CONFIGURATION, 'utf8')
  await symlink(MODULES, join(directory, 'node_modules'))
  await mkdir(join(directory, 'src'))
  await writeFile(join(directory, 'codegen.yml'), shown.replace('http://127.0.0.1:4000', url))
  await copyFile(APP, join(directory, 'src', 'app.ts'))
  await promisify(execFile)(
    process.execPath,
    [join(MODULES, '@graphql-codegen/cli/esm/bin.js'), '--config', 'codegen.yml'],
    {
      cwd: directory,
    },
  )
  const types = await readFile(join(directory, 'src', 'gql', 'graphql.ts'), 'utf8')
  const project = '{ name: string | null, tags: Array<string> | null, data: unknown }'
  expect(types).toContain(`export type AppQuery = { me: { project: ${project} | null } | null };`)
  expect(types).toMatch(/export type AppQueryVariables = Exact<\{\s*ref: string;\s*\}>;/)
})
