// Provides the image that the Containerfile begins with. If no registry answers, an image of the same name is made of
// this machine's files: Node of the same version, npm, a shell and what the steps of the Containerfile call, and
// nothing else.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeDirectory, removeDirectory } from '../support/temporary-directory.ts'
import type { ContainerEngine } from './container-engine.ts'

const PROGRAMS = ['cat', 'env', 'id', 'install', 'ln', 'mkdir', 'rm', 'sh', 'touch']
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'

/** Provides the image and returns where it came from. */
export function provideBaseImage({ docker, isOwn }: ContainerEngine, name: string): 'pulled' | 'made here' {
  const { exitCode, stderr } = docker(['pull', '--quiet', name])
  if (exitCode === 0) return 'pulled'
  if (!isOwn || !name.endsWith(`:${process.versions.node}-bookworm-slim`)) {
    throw new Error(`${name} cannot be pulled: ${stderr}`)
  }
  const root = makeDirectory()
  try {
    fill(root)
    const archive = `${root}.tar`
    execFileSync('tar', ['--create', '--file', archive, '--directory', root, '.'])
    const changes = ['ENV PATH=/usr/local/bin:/usr/bin:/bin', `ENV NODE_EXTRA_CA_CERTS=${CERTIFICATES}`]
    const imported = docker(['import', ...changes.flatMap((change) => ['--change', change]), archive, name])
    removeDirectory(archive)
    if (imported.exitCode !== 0) throw new Error(imported.stderr)
  } finally {
    removeDirectory(root)
  }
  return 'made here'
}

function fill(root: string): void {
  for (const folder of ['bin', 'etc/ssl/certs', 'home/node', 'root', 'tmp', 'usr/bin', 'usr/local/bin', 'var/tmp']) {
    mkdirSync(join(root, folder), { recursive: true })
  }
  chmodSync(root, 0o755)
  for (const folder of ['tmp', 'var/tmp']) chmodSync(join(root, folder), 0o1777)
  for (const program of PROGRAMS) copyProgram(pathOf(program), join(root, 'bin', program), root)
  // The first line of scripts names this path.
  symlinkSync('/bin/env', join(root, 'usr/bin/env'))
  copyProgram(process.execPath, join(root, 'usr/local/bin/node'), root)
  const npm = dirname(dirname(realpathSync(pathOf('npm'))))
  cpSync(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'))
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n')
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nnode:x:1000:\n')
  // On a machine whose outgoing traffic is inspected, this file contains a certificate of its own.
  cpSync(CERTIFICATES, join(root, CERTIFICATES), { dereference: true })
}

function pathOf(program: string): string {
  return execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim()
}

/** Copies a program together with the libraries that it is linked to. */
export function copyProgram(from: string, to: string, root: string): void {
  const linked = execFileSync('ldd', [from], { encoding: 'utf8' })
  const libraries = [...linked.matchAll(/\/\S+/g)].map(([path]) => path)
  // `librt` of the C library is copied too, because native modules are linked to it.
  const more = libraries.filter((path) => path.endsWith('/libc.so.6')).map((path) => join(dirname(path), 'librt.so.1'))
  const copies = [...libraries, ...more].map((path) => [path, join(root, path)] as const)
  for (const [source, target] of [[from, to] as const, ...copies]) {
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(source, target)
  }
}
