// The preview of one file: its text with a toolbar, or the image.
import { Download } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useSaveFile } from '../../design/save-file.ts'
import { extensionOf, IMAGE_TYPES, languageOf } from '../../text/languages.ts'
import { TextView } from '../../text/text-view.tsx'
import type { LinePlace } from '../../text/use-line-place.ts'
import { bytesOf, type Element } from '../project/elements.ts'
import { Picture } from './picture.tsx'

interface FilePreviewProps {
  readonly element: Element
  readonly sizeText: string
  readonly place: LinePlace
}

export function FilePreview({ element, sizeText, place }: FilePreviewProps): ReactNode {
  const { path, content, isFile, isBase64 } = element
  const saveFile = useSaveFile()
  const imageType = IMAGE_TYPES[extensionOf(path)]
  const [isPicture, setPicture] = useState(isBase64)
  const fileName = path.split('/').at(-1) ?? path
  const head = (
    <>
      <bdi className="file-path">{path}</bdi> <span>{sizeText}</span>
    </>
  )
  const canBeBoth = imageType !== undefined && !isBase64 && isFile
  const toggle = canBeBoth && (
    <button type="button" className="small" aria-pressed={isPicture} onClick={() => setPicture(!isPicture)}>
      {isPicture ? 'Text' : 'Picture'}
    </button>
  )
  if (isBase64 || (isPicture && canBeBoth)) {
    return (
      <>
        <div className="text-tools">
          {head}
          <span className="spread" />
          {toggle}
          <button type="button" className="small" onClick={() => saveFile(bytesOf(element), fileName, BYTES)}>
            <Download size={14} aria-hidden="true" /> Download
          </button>
        </div>
        {imageType === undefined ? (
          <p className="note picture">These are bytes, not text. Download the file to open it.</p>
        ) : (
          <Picture element={element} type={imageType} />
        )}
      </>
    )
  }
  return (
    <TextView
      text={content}
      label={path}
      language={isFile ? languageOf(path) : 'json'}
      fileName={fileName}
      place={place}
    >
      {head}
      {toggle}
    </TextView>
  )
}

const BYTES = 'application/octet-stream'
