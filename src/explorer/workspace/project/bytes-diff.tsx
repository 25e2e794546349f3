// Shows how a binary file changed: the images before and after, or else the sizes.
import type { ReactNode } from 'react'
import { sizeText } from '../../answer/answer.ts'
import { extensionOf, IMAGE_TYPES } from '../../text/languages.ts'
import { Picture } from '../files/picture.tsx'
import type { Change } from './changes.ts'
import { byteLengthOf } from './elements.ts'

export function BytesDiff({ path, before, after }: Change): ReactNode {
  const type = IMAGE_TYPES[extensionOf(path)]
  const sides = [
    { title: 'Before', element: before },
    { title: 'After', element: after },
  ]
  return (
    <section className="bytes-diff" aria-label={`What changed in ${path}`}>
      {sides.map(({ title, element }) => (
        <div key={title}>
          <h2>{title}</h2>
          <p className="note">{element === null ? 'Not in this export.' : sizeText(byteLengthOf(element))}</p>
          {element !== null && type !== undefined && <Picture element={element} type={type} />}
        </div>
      ))}
    </section>
  )
}
