// What GraphiQL leaves unsaid to assistive technology: which button is the current tab, and what each editor is for. And a way out of its editors, and a search that names no key of these pages.

const EDITORS: readonly (readonly [selector: string, label: string])[] = [
  ['.graphiql-query-editor', 'Query'],
  ['.graphiql-editor-tool > .graphiql-editor:nth-child(1)', 'Variables, as JSON'],
  ['.graphiql-editor-tool > .graphiql-editor:nth-child(2)', 'Request headers, as JSON'],
]

/** Keeps the roles and names right while GraphiQL draws; answers what stops it. */
export function mendRoles(container: Element): () => void {
  const observer = new MutationObserver(() => mend(container))
  observer.observe(container, { subtree: true, childList: true, attributeFilter: ['aria-selected', 'role'] })
  mend(container)
  return () => observer.disconnect()
}

function mend(container: Element): void {
  // Tabs are buttons inside elements that call themselves tabs: they are a list of buttons of which one is current.
  for (const tab of container.querySelectorAll('.graphiql-tab[aria-selected]')) {
    const isCurrent = tab.getAttribute('aria-selected') ?? 'false'
    tab.querySelector('button')?.setAttribute('aria-current', isCurrent)
    for (const name of ['role', 'aria-selected']) tab.removeAttribute(name)
    tab.closest('[role="tablist"]')?.removeAttribute('role')
  }
  // All of them are called Close Tab.
  for (const close of container.querySelectorAll('.graphiql-tab-close:not([aria-labelledby])')) {
    const tab = close.parentElement?.querySelector('.graphiql-tab-button')
    if (tab) close.setAttribute('aria-labelledby', `${idOf(close)} ${idOf(tab)}`)
  }
  for (const [selector, label] of EDITORS) {
    const editor = container.querySelector(`${selector} .CodeMirror`)
    if (editor) letGo(editor)
    editor?.querySelector('textarea:not([aria-label])')?.setAttribute('aria-label', label)
  }
  // It names a key that opens the palette of these pages.
  container.querySelector('.graphiql-doc-explorer-search input')?.setAttribute('placeholder', 'Search')
  // What its text says is its name (WCAG 2.5.3).
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

/** CodeMirror keeps Tab for itself, so that keyboard users cannot leave the editor. `false` gives the key back to the browser. */
function letGo(editor: Element): void {
  if (freed.has(editor)) return
  freed.add(editor)
  const instance = Reflect.get(editor, 'CodeMirror') as { addKeyMap(keys: object): void }
  instance.addKeyMap({ Tab: false, 'Shift-Tab': false })
}

const freed = new WeakSet<Element>()
