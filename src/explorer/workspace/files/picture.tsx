// Renders an image file.
import { type ReactNode, useEffect, useState } from 'react'
import { bytesOf, type Element } from '../project/elements.ts'

interface PictureProps {
  readonly element: Element
  /** The media type. */
  readonly type: string
}

/** Uses a `data:` URL in an `<img>`, where nothing in the image can run scripts or load anything. */
export function Picture({ element, type }: PictureProps): ReactNode {
  const [address, setAddress] = useState<string | null>(null)
  useEffect(() => {
    const reader = new FileReader()
    reader.onload = () => setAddress(String(reader.result))
    reader.readAsDataURL(new Blob([bytesOf(element)], { type }))
    return () => reader.abort()
  }, [element, type])
  return <p className="picture">{address !== null && <img src={address} alt={element.path} />}</p>
}
