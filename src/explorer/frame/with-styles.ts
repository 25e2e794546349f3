// Code that is fetched together with its style sheets. Vite asks for each sheet once: one that failed is asked for again here.

/** `load`, to be called again for as long as it fails. */
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
    // Errors of a resource are heard on their way down only.
    addEventListener('error', note, { capture: true })
    try {
      await Promise.all([...failed].map(ask))
      return await load()
    } finally {
      removeEventListener('error', note, { capture: true })
    }
  }
}
