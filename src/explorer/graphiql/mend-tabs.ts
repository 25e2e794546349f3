// GraphiQL's tabs are buttons inside elements that call themselves tabs, which assistive technology cannot reach.

/** Makes them what they look like, a list of buttons of which one is current; answers what stops it. */
export function mendTabs(container: Element): () => void {
  const observer = new MutationObserver(() => mend(container))
  observer.observe(container, { subtree: true, childList: true, attributeFilter: ['aria-selected', 'role'] })
  mend(container)
  return () => observer.disconnect()
}

function mend(container: Element): void {
  for (const tab of container.querySelectorAll('.graphiql-tab[aria-selected]')) {
    const isCurrent = tab.getAttribute('aria-selected') ?? 'false'
    tab.querySelector('button')?.setAttribute('aria-current', isCurrent)
    for (const name of ['role', 'aria-selected']) tab.removeAttribute(name)
    tab.closest('[role="tablist"]')?.removeAttribute('role')
  }
}
