// Tests how the pages show names that have nothing to see, or that would show other letters around them in another order.
import { expect, test } from 'vitest'
import { shownName, visibleName } from '../../src/explorer/workspace/shown-name.ts'

test('a name in which nothing can be seen is replaced by the key, and a key like that by words', () => {
  for (const unseen of ['', ' ', '\t\u0007', '\u200b\u2060']) {
    expect(shownName(unseen, 'site')).toBe('site')
    expect(shownName(null, unseen)).toBe('(no name)')
    expect(visibleName(unseen)).toBe('(no name)')
  }
  expect(visibleName('\u202egpj.exe')).toBe('\ufffdgpj.exe')
})
