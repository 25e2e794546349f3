// Types for the part of pgpass that is used here. The package has none.
declare module 'pgpass' {
  /** Fields that select a line of the file. More fields are allowed. */
  interface Wanted {
    readonly host: string
    readonly port: number
    readonly user: string
    readonly database: string
  }
  /** Calls back without a password when no line matches, or when others than the owner can read the file. */
  function pgpass(wanted: Wanted, done: (password: string | undefined) => void): void
  namespace pgpass {
    /** Sets where pgpass writes warnings about the file. Null disables them. */
    function warnTo(stream: null): void
  }
  export = pgpass
}
