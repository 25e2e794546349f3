// Downloads content that the page holds as a file.
import { useCallback } from 'react'
import { useToast } from './toast.tsx'

const REVOKE_AFTER_MS = 10_000

type SaveFile = (content: BlobPart, name: string, type: string) => void

/** Shows a toast, because the browser may put the file somewhere out of sight. */
export function useSaveFile(): SaveFile {
  const toast = useToast()
  return useCallback(
    (content, name, type) => {
      saveFile(content, name, type)
      toast(`Download started: ${name}`)
    },
    [toast],
  )
}

function saveFile(content: BlobPart, name: string, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_AFTER_MS)
}
