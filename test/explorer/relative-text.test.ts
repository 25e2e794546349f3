// Tests relative dates: rounded to the nearest number of the unit that fits.
import { expect, test } from 'vitest'
import { relativeText } from '../../src/explorer/design/moment.ts'

const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400]

test.each([
  [0, 'now'],
  [-59, '59 seconds ago'],
  [-89, '1 minute ago'],
  [59 * MINUTE + 29, 'in 59 minutes'],
  [59 * MINUTE + 30, 'in 1 hour'],
  [-23 * HOUR - 29 * MINUTE, '23 hours ago'],
  [-23 * HOUR - 31 * MINUTE, 'yesterday'],
  [14 * DAY, 'in 14 days'],
  [14 * DAY - 1, 'in 14 days'],
  [13.4 * DAY, 'in 13 days'],
  [29.6 * DAY, 'next month'],
  [-400 * DAY, 'last year'],
])('relativeText() says for %d seconds away: "%s"', (seconds, text) => {
  expect(relativeText(seconds * 1_000, 0)).toBe(text)
})
