// The Web Worker that creates a zip file and reports its progress.
import type { Element } from '../project/elements.ts'
import { zipOf } from './zip.ts'

export type ZipReply =
  | { readonly kind: 'progress'; readonly done: number }
  | { readonly kind: 'done'; readonly zip: Blob }
  | { readonly kind: 'failed'; readonly message: string }

export interface ZipTask {
  readonly elements: readonly Element[]
  /** Creation time of the export, which becomes the modification time of every file. */
  readonly createdAt: string
}

addEventListener('message', ({ data: { elements, createdAt } }: MessageEvent<ZipTask>) => {
  try {
    const chunks = zipOf(elements, createdAt, (done) => reply({ kind: 'progress', done }))
    reply({ kind: 'done', zip: new Blob([...chunks], { type: 'application/zip' }) })
  } catch (error) {
    reply({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
  }
})

function reply(message: ZipReply): void {
  postMessage(message)
}
