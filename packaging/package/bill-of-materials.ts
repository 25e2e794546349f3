// Writes the bill of materials of the program (CycloneDX, from the lock file), and the licences of the bundled
// packages.
import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

interface Bill {
  components: readonly Component[]
  dependencies: readonly { readonly ref: string; dependsOn: readonly string[] }[]
  serialNumber?: string
  readonly metadata: { timestamp?: string; readonly component: Component }
}

interface Component {
  readonly 'bom-ref': string
  name: string
  readonly version: string
  readonly properties?: readonly { readonly name: string }[]
}

/** npm marks packages for development so, and scanners skip them. */
const FOR_DEVELOPMENT = 'cdx:npm:package:development'
/** The build of the pages lists the packages in them here. */
const IN_PAGES = 'explorer/built'

/** Writes `sbom.cdx.json` and `THIRD-PARTY-LICENSES.txt`. The same lock file gives the same bytes. */
export async function writeBillOfMaterials(root: string, output: string): Promise<void> {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
  const options = { cwd: root, shell: process.platform === 'win32', maxBuffer: 64 * 1_048_576 }
  const { stdout } = await promisify(execFile)('npm', args, options)
  const bill: Bill = JSON.parse(stdout)
  const inPages = (await readFile(join(output, IN_PAGES), 'utf8')).split('\n')
  if (inPages.length < 2) throw new Error(`an earlier version built the pages: remove ${output} and pack again`)
  await keepWhatRuns(bill, root, inPages)
  const { name } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  // npm uses the name of the folder.
  bill.metadata.component.name = name
  delete bill.serialNumber
  delete bill.metadata.timestamp
  await writeFile(join(output, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`)
  const licences = await Promise.all(
    bill.components.map(async (component) => {
      const folder = join(root, 'node_modules', component.name)
      const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry))
      const { license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
      const text =
        file === undefined
          ? `Licence: ${license}, as its package.json says.\n`
          : await readFile(join(folder, file), 'utf8')
      return `${component.name} ${component.version}\n\n${text.trimEnd()}\n`
    }),
  )
  await writeFile(join(output, 'THIRD-PARTY-LICENSES.txt'), licences.join(`\n${'-'.repeat(80)}\n\n`))
}

/**
 * Removes development dependencies from the bill, except those that the pages contain. `--omit dev` of npm 11 would also
 * remove packages that the program and a development dependency share, such as graphql.
 */
async function keepWhatRuns(bill: Bill, root: string, inPages: readonly string[]): Promise<void> {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
  const running = new Set(inPages)
  for (const [path, entry] of Object.entries<{ dev?: boolean; link?: boolean; version: string }>(packages)) {
    const name = path.replace(/^.*node_modules\//, '')
    if (path.startsWith('node_modules/') && !entry.dev && !entry.link) running.add(`${name}@${entry.version}`)
  }
  bill.components = bill.components
    .filter(({ name, version }) => running.has(`${name}@${version}`))
    .map((component) => ({
      ...component,
      scope: 'required',
      properties: component.properties?.filter(({ name }) => name !== FOR_DEVELOPMENT) ?? [],
    }))
  const kept = new Set([bill.metadata.component, ...bill.components].map((component) => component['bom-ref']))
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }))
}
