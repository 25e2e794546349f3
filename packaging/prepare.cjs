// Ends `npm ci` and `npm install` in a clone: links the Node that `packaging/node` brings, and builds the pages. It runs
// on the machine's Node, which may be too old for TypeScript.
const { execSync } = require('node:child_process')
const { existsSync, rmSync, symlinkSync } = require('node:fs')
const { optionalDependencies } = require('./node/package.json')

const LINK = 'node_modules/.bin/node'

// npm 10, which comes with Node 20 and 22, and the first npm 11 leave out the Nodes for other systems, and remove the
// link with them, because all of them have this one link. On Windows a link is a script that only npm can write.
const installed = Object.keys(optionalDependencies).find((name) => existsSync(`node_modules/${name}`))
if (installed !== undefined && !existsSync(LINK) && process.platform !== 'win32') {
  // A link whose Node was removed is still there.
  rmSync(LINK, { force: true })
  symlinkSync(`../${installed}/bin/node`, LINK)
}

if (existsSync('node_modules/vite')) {
  execSync('npm run build -- --if-stale', { stdio: 'inherit' })
} else {
  process.stderr.write(
    'The packages for development are not installed (NODE_ENV=production, or --omit=dev): this clone has no pages, and no Node of its own.\n' +
      'To install everything, run: npm ci --include=dev\n',
  )
}
