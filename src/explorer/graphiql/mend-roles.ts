// Repairs GraphiQL's accessibility: tab roles, editor names, a way out of its editors, and the shortcut in its search.

const EDITORS: readonly (readonly [selector: string, label: string])[] = [
  ['.graphiql-query-editor', 'Query'],
  ['.graphiql-editor-tool > .graphiql-editor:nth-child(1)', 'Variables, as JSON'],
  ['.graphiql-editor-tool > .graphiql-editor:nth-child(2)', 'Request headers, as JSON'],
]

/** Keeps roles and names correct while GraphiQL renders. Returns a function that stops it. */
export function mendRoles(container: Element): () => void {
  const observer = new MutationObserver(() => mend(container))
  observer.observe(container, { subtree: true, childList: true, attributeFilter: ['aria-selected', 'role'] })
  mend(container)
  return () => observer.disconnect()
}

function mend(container: Element): void {
  // GraphiQL puts buttons inside elements with the role `tab`. Turn them into a list of buttons, one of them current.
  for (const tab of container.querySelectorAll('.graphiql-tab[aria-selected]')) {
    const isCurrent = tab.getAttribute('aria-selected') ?? 'false'
    tab.querySelector('button')?.setAttribute('aria-current', isCurrent)
    for (const name of ['role', 'aria-selected']) tab.removeAttribute(name)
    tab.closest('[role="tablist"]')?.removeAttribute('role')
  }
  // Every close button is named "Close Tab", so add the name of its tab.
  for (const close of container.querySelectorAll('.graphiql-tab-close:not([aria-labelledby])')) {
    const tab = close.parentElement?.querySelector('.graphiql-tab-button')
    if (tab) close.setAttribute('aria-labelledby', `${idOf(close)} ${idOf(tab)}`)
  }
  for (const [selector, label] of EDITORS) {
    const editor = container.querySelector(`${selector} .CodeMirror`)
    if (editor) releaseTabKey(editor)
    editor?.querySelector('textarea:not([aria-label])')?.setAttribute('aria-label', label)
  }
  // The placeholder names a shortcut that opens the palette of these pages instead.
  container.querySelector('.graphiql-doc-explorer-search input')?.setAttribute('placeholder', 'Search')
  // The visible text must be the accessible name (WCAG 2.5.3).
  for (const label of container.querySelectorAll('.graphiql-history-item-label[aria-label]'))
    label.removeAttribute('aria-label')
}

function idOf(element: Element): string {
  if (element.id === '') {
    count += 1
    element.id = `named-${count}`
  }
  return element.id
}

let count = 0

/** CodeMirror captures Tab, so keyboard users cannot leave the editor. `false` returns the key to the browser. */
function releaseTabKey(editor: Element): void {
  if (freed.has(editor)) return
  freed.add(editor)
  const instance = Reflect.get(editor, 'CodeMirror') as { addKeyMap(keys: object): void }
  instance.addKeyMap({ Tab: false, 'Shift-Tab': false })
}

const freed = new WeakSet<Element>()
