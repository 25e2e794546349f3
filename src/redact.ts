// Takes secrets out of text that somebody may read: tokens and email addresses, whoever put them there.

const SECRETS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/wgr_[A-Za-z0-9_-]*/g, '[token]'],
  // A JWT: its header always begins with {"
  [/eyJ[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*)*/g, '[token]'],
  // A URL's password.
  [/(\/\/[^\s/:@]*):[^\s/@]*@/g, '$1:[password]@'],
  [/[^\s"'`<>(),;:@]+@[^\s"'`<>(),;:@]+/g, '[email]'],
]

export function redact(text: string): string {
  return SECRETS.reduce((redacted, [pattern, replacement]) => redacted.replace(pattern, replacement), text)
}
