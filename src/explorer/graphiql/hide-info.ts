// Hides the description of a field while the person types: it covers the text, and on a phone most of the editor.

/** The editor waits 200 ms before it hides the description, and each further event starts that wait again. */
const MIN_INTERVAL_MS = 250

/** Returns a function that stops it. */
export function hideInfoWhileTyping(container: Element): () => void {
  let hiddenAt = Number.NEGATIVE_INFINITY

  /** CodeMirror shows the description until the pointer leaves its editor. A pointer at rest, or a finger, never does. */
  function hide({ target, timeStamp }: Event): void {
    if (timeStamp - hiddenAt < MIN_INTERVAL_MS) return
    hiddenAt = timeStamp
    const editor = target instanceof Element ? target.closest('.CodeMirror') : null
    editor?.dispatchEvent(new MouseEvent('mouseout'))
  }
  container.addEventListener('input', hide)
  return () => container.removeEventListener('input', hide)
}
