// What `npm test` leaves to `npm run test:all` and `.ci/run`, since it takes long by its nature.

export const LONG_TESTS = [
  // Real browsers.
  'test/explorer/**',
  'test/guards/proxies/browser.test.ts',
  'test/sign-in/mail-browser.test.ts',
  // Processes and databases that are killed, frozen and started again, and disks that fail.
  'test/crash.test.ts',
  'test/faults/**',
  // The doctor tells a disk from memory, and every proxy from another.
  'test/doctor/**',
  'test/histories.test.ts',
  'test/postgres-failure.test.ts',
  'test/postgres-replica.test.ts',
  'test/workers.test.ts',
  'test/workers/**',
  // Many processes and loads beside each other.
  'test/move-online.test.ts',
  'test/move.test.ts',
  'test/other-process.test.ts',
  'test/stalled-readers.test.ts',
  'test/graphql/hostile-documents.test.ts',
  // Every pair of a gateway and a proxy.
  'test/guards/proxies/documented.test.ts',
  'test/guards/proxies/matrix.test.ts',
  'test/poolers/**',
  // Other servers beside ours, read, followed and shadowed, and counts over several nodes.
  'test/move-in/**',
  'test/retirement/**',
  // What other programs make of ours: shells, and the log of PostgreSQL.
  'test/configuration/completion.test.ts',
  'test/sight/statement-traces.test.ts',
  // A paper whose every command is run.
  'test/auth/operate-docs.test.ts',
  // The life of a service, with its watchdog, several times over.
  'test/operate/systemd.test.ts',
  // Every expression in the sources, analysed.
  'test/regular-expressions.test.ts',
  // Every release before.
  'test/upgrades/**',
]
