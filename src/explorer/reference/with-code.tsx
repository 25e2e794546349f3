// Renders a sentence, with the text between backticks as code.
import type { ReactNode } from 'react'

export function WithCode({ text }: { readonly text: string }): ReactNode {
  let offset = 0
  return text.split('`').map((part, index) => {
    const key = offset
    offset += part.length + 1
    return index % 2 === 1 ? <code key={key}>{part}</code> : <span key={key}>{part}</span>
  })
}
