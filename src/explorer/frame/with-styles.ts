// Loads code together with its style sheets. Vite requests each sheet only once, so this module retries a failed sheet.

/** Wraps `load` so that the caller can retry it until it succeeds. */
export function withStyles<T>(load: () => Promise<T>): () => Promise<T> {
  const failed = new Set<HTMLLinkElement>()

  function note({ target }: Event): void {
    if (target instanceof HTMLLinkElement && target.rel === 'stylesheet') failed.add(target)
  }

  function ask(link: HTMLLinkElement): Promise<unknown> {
    failed.delete(link)
    const copy = document.createElement('link')
    for (const { name, value } of link.attributes) copy.setAttribute(name, value)
    const loaded = new Promise((resolve, reject) => {
      copy.addEventListener('load', resolve)
      copy.addEventListener('error', () => reject(new Error(`no style sheet at ${copy.href}`)))
    })
    link.replaceWith(copy)
    return loaded
  }

  return async () => {
    // Error events of resources do not bubble, so the listener uses the capture phase.
    addEventListener('error', note, { capture: true })
    try {
      await Promise.all([...failed].map(ask))
      return await load()
    } finally {
      removeEventListener('error', note, { capture: true })
    }
  }
}
