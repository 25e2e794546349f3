// The Vite plugin that collects the packages whose code is in the pages, for the bill of materials.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Plugin } from 'vite'

/** The path of a module up to the folder of the innermost package. */
const FOLDER = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/

export interface BundledPackages {
  /** For a build, and for each build of its workers. */
  readonly plugin: Plugin
  /** The packages as `name@version`, sorted. Complete after the build. */
  readonly list: () => Promise<readonly string[]>
}

export function collectPackages(): BundledPackages {
  const folders = new Set<string>()
  return {
    plugin: {
      name: 'bundled-packages',
      // What is in the chunks, and not what was read: most of some packages is left out.
      generateBundle(_options, bundle) {
        const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
        for (const id of chunks.flatMap(({ moduleIds }) => moduleIds)) {
          const [folder] = FOLDER.exec(id) ?? []
          if (folder !== undefined) folders.add(folder)
        }
      },
    },
    async list() {
      const names = [...folders].map(async (folder) => {
        const { name, version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
        return `${name}@${version}`
      })
      return [...new Set(await Promise.all(names))].toSorted()
    },
  }
}
