import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string) => JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'))

test('installing needs no compiler, on the npm that Node 20 brings', () => {
  // npm 10 knows nothing of `allowScripts`, and compiles whatever has a binding.gyp unless the lock file says otherwise.
  // better-sqlite3 says so in its own package.json, which `npm install` does not carry over: put it back by hand.
  for (const lock of ['package-lock.json', 'bench/package-lock.json']) {
    expect(read(lock).packages['node_modules/better-sqlite3'], lock).toMatchObject({ gypfile: false })
  }
})

test('every dependency has an exact version, and no package is fetched from anywhere but the registry', () => {
  for (const folder of ['', 'bench/']) {
    const { dependencies, devDependencies, optionalDependencies } = read(`${folder}package.json`)
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
      expect(version, name).toMatch(/^\d+\.\d+\.\d+(?:-[a-z]+\.\d+)?$/)
    }
    for (const [name, entry] of Object.entries<{ resolved?: string }>(read(`${folder}package-lock.json`).packages)) {
      expect(entry.resolved ?? '', name).toBe('')
    }
  }
})
