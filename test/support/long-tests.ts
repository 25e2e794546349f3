// Lists the tests that `npm test` leaves to `npm run test:all` and `.ci/run`, because they take long by their nature.

export const LONG_TESTS = [
  // Real browsers.
  'test/explorer/**',
  'test/guards/proxies/browser.test.ts',
  'test/sign-in/mail-browser.test.ts',
  // Processes and databases that are killed, frozen and restarted, and disks that fail.
  'test/crash.test.ts',
  'test/faults/**',
  // The doctor distinguishes a disk from memory, and every proxy from the others.
  'test/doctor/**',
  'test/histories.test.ts',
  'test/postgres-failure.test.ts',
  'test/postgres-replica.test.ts',
  'test/workers.test.ts',
  'test/workers/**',
  // Many processes and loads side by side.
  'test/move-online.test.ts',
  'test/move.test.ts',
  'test/other-process.test.ts',
  'test/stalled-readers.test.ts',
  'test/graphql/hostile-documents.test.ts',
  // Every pair of gateway and proxy.
  'test/guards/proxies/documented.test.ts',
  'test/guards/proxies/matrix.test.ts',
  'test/poolers/**',
  // Servers of others beside ours, which are read, followed and shadowed, and counts over several nodes.
  'test/move-in/**',
  'test/retirement/**',
  // What other programs make of our output: shells, and the log of PostgreSQL.
  'test/configuration/completion.test.ts',
  'test/sight/statement-traces.test.ts',
  // Runs every command of a documentation page.
  'test/auth/operate-docs.test.ts',
  // The life of a service and its watchdog, several times over.
  'test/operate/systemd.test.ts',
  // Analyses every regular expression in the sources.
  'test/regular-expressions.test.ts',
  // Starts from every earlier release.
  'test/upgrades/**',
]
