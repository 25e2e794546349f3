#!/usr/bin/env node
// The entry point of the program, in a package and in a clone. It is written so that any Node can parse it: a Node that
// is too old for the rest gets an error message. In a clone, `npx` runs it with the Node that is installed there.
var needed = require('../package.json').engines.node.replace('>=', '')
var running = process.versions.node
var entry = '../src/main.ts'

function isOlder(version, than) {
  var parts = version.split('.')
  var limits = than.split('.')
  var at
  for (at = 0; at < limits.length; at += 1) {
    if (Number(parts[at]) !== Number(limits[at])) return Number(parts[at]) < Number(limits[at])
  }
  return false
}

if (isOlder(running, needed)) {
  process.stderr.write('workspace-gateway needs Node ' + needed + ' or newer, and this is Node ' + running + '.\n')
  process.exitCode = 2
} else {
  // A clone in which `npm pack` ran has both, and the packed one may be of an earlier version.
  try {
    require.resolve(entry)
  } catch (_) {
    entry = '../dist/program/main.js'
  }
  import(entry)
}
