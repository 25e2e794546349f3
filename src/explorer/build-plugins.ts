// The Vite plugins of the build: one removes embedded fonts, the other preloads the screen.
import type { HtmlTagDescriptor, Plugin, Rolldown } from 'vite'

/** GraphiQL's style sheet embeds 380 kB of fonts. The plugin removes them, because the pages use the system fonts. */
export const WITHOUT_FONTS: Plugin = {
  name: 'without-fonts',
  enforce: 'pre',
  transform: {
    filter: { id: /graphiql\/dist\/style\.css$/ },
    handler: (css) => css.replace(/@font-face\s*\{[^}]*\}/g, ''),
  },
}

/**
 * Adds preload tags for the code and the styles of the screen to index.html, so that the browser fetches them in
 * parallel with the entry instead of after it.
 */
export const SCREEN_IN_SHELL: Plugin = {
  name: 'screen-in-shell',
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle = {} }) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
      const screen = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith('/screen.tsx'))
      const tags = screen ? withImports(screen, chunks).flatMap(tagsOf) : []
      return tags.filter(({ attrs }) => !html.includes(`"${attrs?.href}"`))
    },
  },
}

function withImports(
  screen: Rolldown.OutputChunk,
  chunks: readonly Rolldown.OutputChunk[],
): readonly Rolldown.OutputChunk[] {
  const needed = new Set([screen])
  for (const { imports } of needed) {
    for (const chunk of chunks) if (imports.includes(chunk.fileName) && !chunk.isEntry) needed.add(chunk)
  }
  return [...needed]
}

function tagsOf({ fileName, viteMetadata }: Rolldown.OutputChunk): readonly HtmlTagDescriptor[] {
  const styles = [...(viteMetadata?.importedCss ?? [])]
  return [
    { tag: 'link', attrs: { rel: 'modulepreload', crossorigin: true, href: `./${fileName}` }, injectTo: 'head' },
    ...styles.map((href): HtmlTagDescriptor => {
      return { tag: 'link', attrs: { rel: 'stylesheet', crossorigin: true, href: `./${href}` }, injectTo: 'head' }
    }),
  ]
}
