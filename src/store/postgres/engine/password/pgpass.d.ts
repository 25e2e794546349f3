// The part of pgpass that is used here: it has no types of its own.
declare module 'pgpass' {
  /** What a line of the file is found by; more may be there. */
  interface Wanted {
    readonly host: string
    readonly port: number
    readonly user: string
    readonly database: string
  }
  /** Calls back without a password where no line of a file that only its owner can read matches. */
  function pgpass(wanted: Wanted, done: (password: string | undefined) => void): void
  namespace pgpass {
    /** Where it writes what it finds wrong with the file, each time: nowhere with null. */
    function warnTo(stream: null): void
  }
  export = pgpass
}
