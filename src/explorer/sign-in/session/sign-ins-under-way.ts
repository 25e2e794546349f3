// Tracks sign-ins in flight, so that a sign-out can cancel them.
import type { Tokens } from './tokens.ts'

export interface SignInsUnderWay {
  /** Resolves to null if the sign-in was cancelled meanwhile; the session it opened is then ended. */
  readonly run: (email: string, open: () => Promise<Tokens>) => Promise<Tokens | null>
  readonly callOff: (isMeant: (email: string) => boolean) => void
}

export function createSignInsUnderWay(end: (refreshToken: string) => void): SignInsUnderWay {
  const all = new Set<{ readonly email: string; isCalledOff: boolean }>()
  return {
    async run(email, open) {
      const own = { email, isCalledOff: false }
      all.add(own)
      const tokens = await open().finally(() => all.delete(own))
      if (!own.isCalledOff) return tokens
      end(tokens.refreshToken)
      return null
    },
    callOff(isMeant) {
      for (const one of all) one.isCalledOff ||= isMeant(one.email)
    },
  }
}
