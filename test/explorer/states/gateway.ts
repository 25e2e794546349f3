// Serves the demo workspace with content that is hard to display: a second export, a picture, a name without a space,
// and a text from right to left.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run, type ServingProcess, serve } from '../../support/command-line.ts'
import { documentLine, exportLine } from '../../support/workspaces.ts'

const DEMO = 'demo@example.com'
/** A PNG of one red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

/** Starts the gateway; the caller kills it and removes the directory. */
export async function serveHardDemo(cwd: string): Promise<ServingProcess> {
  const gateway = await serve([], { cwd })
  const elements = [
    { path: 'README.md', content: '# Quillmoor\n\nCoffee from the **moor**.\n' },
    { path: 'src/app/page.tsx', content: 'export default function Page() {\n  return <h1>Quillmoor</h1>\n}\n' },
    { path: 'public/logo.png', encoding: 'base64', content: PNG },
    { path: `src/${'unbroken'.repeat(30)}.ts`, content: `export const long = '${'x'.repeat(5_000)}'\n` },
  ].map((element) => JSON.stringify(element))
  const odd = { id: 'odd', ref: 'odd', name: 'unbroken'.repeat(60), description: 'مشروع عربي، 12 صفحة', tags: ['عربي'] }
  const file = join(cwd, 'hard.ndjson')
  writeFileSync(
    file,
    exportLine(DEMO, { r: 'roastery-site', createdAt: '2027-01-01T00:00:00Z', elements }) +
      documentLine('project', DEMO, JSON.stringify(odd)),
  )
  const { exitCode, stderr } = await run(['import', file], { cwd })
  if (exitCode !== 0) throw new Error(stderr)
  return gateway
}
