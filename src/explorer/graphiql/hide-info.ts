// Hides the description of a field while the person types: it covers the text, and on a phone most of the editor.

/** Returns a function that stops it. */
export function hideInfoWhileTyping(container: Element): () => void {
  /** CodeMirror shows the description until the pointer leaves its editor. A pointer at rest, or a finger, never does. */
  function hide({ target }: Event): void {
    const editor = target instanceof Element ? target.closest('.CodeMirror') : null
    editor?.dispatchEvent(new MouseEvent('mouseout'))
  }
  container.addEventListener('input', hide)
  return () => container.removeEventListener('input', hide)
}
