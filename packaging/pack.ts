// Runs before `npm pack`: builds everything in the package that is not in the repository. `--after` restores
// package.json.
import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { demoExamples } from '../src/cli/demo/demo.ts'
import { createSchema } from '../src/graphql/schema.ts'
import { createOpenApi } from '../src/rest/openapi/openapi.ts'
import { writeBillOfMaterials } from './package/bill-of-materials.ts'
import { bundleProgram } from './package/bundle.ts'
import { exchangeManifest, restoreManifest } from './package/manifest.ts'
import { writeTypes } from './package/types.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/[/\\]$/, '')
const OUTPUT = join(ROOT, 'dist')

await restoreManifest(ROOT)
if (!process.argv.includes('--after')) {
  await mkdir(OUTPUT, { recursive: true })
  execFileSync(process.execPath, [join(ROOT, 'src/explorer/build.ts'), '--if-stale'], { stdio: 'inherit' })
  await Promise.all([
    bundleProgram(ROOT, join(OUTPUT, 'program')),
    writeTypes(ROOT, join(OUTPUT, 'types')),
    writeBillOfMaterials(ROOT, OUTPUT),
    writeOpenApi(),
  ])
  await exchangeManifest(ROOT)
}

async function writeOpenApi(): Promise<void> {
  const options = { basePath: '', examples: await demoExamples() }
  await writeFile(join(OUTPUT, 'openapi.json'), `${JSON.stringify(createOpenApi(createSchema(), options), null, 2)}\n`)
}
