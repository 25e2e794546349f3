// Tests which network an address counts as in the rate limits.
import { expect, test } from 'vitest'
import { networkOf } from '../../src/auth/limits/network.ts'

test.each([
  ['192.0.2.77', '192.0.2.77'],
  ['::ffff:192.0.2.77', '192.0.2.77'],
  // One host has all of these.
  ['127.0.0.1', '127.0.0.1'],
  ['127.8.7.6', '127.0.0.1'],
  ['::ffff:127.8.7.6', '127.0.0.1'],
  ['::1', '127.0.0.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::1', '2001:db8:1:2::/64'],
  // A socket without an address, such as a Unix socket.
  ['', ''],
  ['unix:', 'unix:'],
])('%j counts as %j', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
