// The data of the benchmark: users with 20 projects each (4.7 kB as one array), exports, templates and libraries.
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'

const PROJECTS = 20
const WORDS = 'quiet harbour lantern meadow copper river atlas ember willow orbit'.split(' ')

export async function writeWorkspaces(path: string, users: number): Promise<void> {
  const file = createWriteStream(path)
  for (let user = 0; user < users; user += 1) {
    if (!file.write(workspaceOf(user))) await once(file, 'drain')
  }
  file.end()
  await finished(file)
}

export function emailOf(user: number): string {
  return `user${user}@example.com`
}

function workspaceOf(user: number): string {
  const email = emailOf(user)
  const lines: object[] = []
  for (let index = 0; index < PROJECTS; index += 1) {
    const word = (offset: number) => WORDS[(user + index * 7 + offset * 3) % WORDS.length]
    const ref = `${word(0)}-${word(1)}-${index}`
    const data = {
      id: `prj_${user}_${index}`,
      ref,
      name: `${word(0)} ${word(1)} ${index}`,
      description: `The ${word(2)} ${word(3)} of the ${word(4)}`,
      framework: index % 2 ? 'react' : 'vue',
      tags: [word(5), word(6)],
      createdAt: '2026-01-01T00:00:00Z',
      updatedAt: '2026-02-01T00:00:00Z',
    }
    lines.push({ kind: 'project', email, data })
    lines.push({
      kind: 'export',
      email,
      r: ref,
      createdAt: '2026-01-01T00:00:00Z',
      data: [{ path: 'index.html', content: '' }],
    })
  }
  lines.push({ kind: 'template', email, data: { id: 't', name: 'Landing' } })
  lines.push({ kind: 'uiLibrary', email, data: { id: 'l', name: 'Buttons' } })
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}
