// Tests the networks that sessions and the audit log store: a /24 of IPv4, a /64 of IPv6.
import { expect, test } from 'vitest'
import { coarseNetworkOf } from '../../src/auth/coarse-network.ts'

test.each([
  ['192.0.2.77', '192.0.2.0/24'],
  ['::ffff:192.0.2.77', '192.0.2.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8::/64'],
  ['2001:db8:0:0:1::', '2001:db8::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['::1', '::/64'],
  ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
  ['', ''],
  ['unix:', ''],
  ['192.0.2', ''],
])('the network of %j is %j', (address, network) => {
  expect(coarseNetworkOf(address)).toBe(network)
})
