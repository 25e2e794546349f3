#!/usr/bin/env node
// Where the installed program begins. Any Node can read this file, so one that is too old for the rest says so.
var needed = require('../package.json').engines.node.replace('>=', '')
var running = process.versions.node

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
  import('../dist/program/main.js')
}
