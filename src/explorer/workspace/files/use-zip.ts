// Creates a zip file in a worker, with progress and cancellation.
import { useEffect, useRef, useState } from 'react'
import { useSaveFile } from '../../design/save-file.ts'
import type { ZipReply, ZipTask } from './zip-worker.ts'

export interface Zipping {
  /** From 0 to 1; null while no zip is being created. */
  readonly progress: number | null
  /** Why the last attempt failed; null otherwise. */
  readonly failure: string | null
  readonly start: (task: ZipTask, fileName: string) => void
  readonly cancel: () => void
}

export function useZip(): Zipping {
  const worker = useRef<Worker | null>(null)
  const saveFile = useSaveFile()
  const [progress, setProgress] = useState<number | null>(null)
  const [failure, setFailure] = useState<string | null>(null)

  function cancel(): void {
    worker.current?.terminate()
    worker.current = null
    setProgress(null)
  }

  useEffect(() => () => worker.current?.terminate(), [])

  function start(task: ZipTask, fileName: string): void {
    cancel()
    const zipper = new Worker(new URL('./zip-worker.ts', import.meta.url), { type: 'module' })
    worker.current = zipper
    setProgress(0)
    setFailure(null)
    zipper.onmessage = ({ data }: MessageEvent<ZipReply>) => {
      if (data.kind === 'progress') return setProgress(data.done)
      if (data.kind === 'done') saveFile(data.zip, fileName, 'application/zip')
      cancel()
      if (data.kind === 'failed') setFailure(data.message)
    }
    zipper.onerror = () => {
      cancel()
      setFailure('The code that makes it could not be loaded.')
    }
    zipper.postMessage(task)
  }

  return { progress, failure, start, cancel }
}
