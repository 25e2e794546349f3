// Maps the extension of a path to its language.

const LANGUAGES = {
  json: ['json', 'webmanifest', 'map'],
  typescript: ['ts', 'tsx', 'mts', 'cts'],
  javascript: ['js', 'jsx', 'mjs', 'cjs'],
  css: ['css', 'scss', 'less'],
  html: ['html', 'htm', 'vue', 'svelte', 'astro', 'svg', 'xml'],
  markdown: ['md', 'mdx', 'markdown'],
  python: ['py'],
} as const satisfies Record<string, readonly string[]>

export type Language = keyof typeof LANGUAGES | 'text'

export function languageOf(path: string): Language {
  const extension = extensionOf(path)
  const found = Object.entries(LANGUAGES).find(([, extensions]) =>
    (extensions as readonly string[]).includes(extension),
  )
  return (found?.[0] as Language | undefined) ?? 'text'
}

export function extensionOf(path: string): string {
  return /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? ''
}

/** Image types that browsers display; none of them runs scripts inside an `<img>`. */
export const IMAGE_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  ico: 'image/x-icon',
  svg: 'image/svg+xml',
}
