// Checks of error answers: what they reveal, and their form. They run last, when many errors have been seen.
import { memberOf } from '../../member-of.ts'
import { jsonOf } from '../answer-body.ts'
import { CannotTellError } from '../cannot-tell.ts'
import { type Check, unlessStatus } from '../check.ts'
import { saysBusy } from '../patience.ts'
import type { FailureSeen, Probe } from '../probe.ts'
import { unlessHeader } from './header.ts'

const group = 'errors'
/** Details that belong in a log and not in an answer. Each test takes linear time, because the text may be long. */
const INSIDES: readonly (readonly [what: string, isIn: (text: string) => boolean])[] = [
  [
    'where in the program it was made',
    (text) =>
      text.split(/\n|\\n/).some((line) => /^\s+at .*:\d/.test(line) || /Traceback \(most recent|\.java:\d/.test(line)),
  ],
  ['a path of the server', (text) => text.includes('node_modules/') || text.split(/[\s"'()<>]/).some(isServerPath)],
  ['SQL or its errors', (text) => /syntax error at or near|SQLITE_[A-Z]|ORA-\d/i.test(text) || isSelect(text)],
  ['a token', (text) => text.split(/[^\w.-]/).some((word) => word.startsWith('eyJ') && word.includes('.'))],
]

function isServerPath(word: string): boolean {
  return /^(?:file:\/\/)?(?:\/(?:usr|home|var|srv|app|opt)\/|[A-Z]:\\)/.test(word) && /\.\w/.test(word)
}

/** "Select a project from the list" is no SQL: a keyword in small letters needs a further one. */
function isSelect(text: string): boolean {
  const start = text.search(/\bselect\b/i)
  if (start === -1) return false
  const statement = text.slice(start)
  if (/\bSELECT\b/.test(statement) && /\bFROM\b/.test(statement)) return true
  return /\bfrom\b/i.test(statement) && /\b(?:where|limit|join|order by|group by)\b/i.test(statement)
}

export const FAILURE_CHECKS: readonly Check[] = [
  {
    group,
    name: 'an unknown path is 404',
    source: 'standard',
    // As a user: a server may ask a stranger for a token wherever that points to.
    run: async (probe) => unlessStatus(await probe.sendAsUser({ method: 'GET', path: '/no-such-path-3f1c9a' }), 404),
  },
  {
    group,
    name: 'another method is 405 and names those there are',
    source: 'gateway',
    async run(probe) {
      const answer = await probe.send({ method: 'PATCH', path: '/projects', body: {} })
      return unlessStatus(answer, 405) ?? unlessHeader(answer, 'allow', /GET/)
    },
  },
  {
    group,
    name: 'no error shows the insides of the server',
    source: 'safety',
    async run(probe) {
      for (const failure of probe.failures()) {
        const text = failure.answer.body.toString()
        const shown = INSIDES.find(([, isIn]) => isIn(text))
        if (shown) return `${nameOf(failure)} shows ${shown[0]}`
      }
      return null
    },
  },
  {
    group,
    name: 'no request of this run is answered 500 or more',
    source: 'gateway',
    run: (probe) => firstFound(probe, ({ answer }) => (answer.status < 500 || saysBusy(answer) ? null : 'is')),
  },
  {
    group,
    name: 'errors are application/problem+json (RFC 9457) with the status and a code',
    source: 'gateway',
    run: (probe) => firstFound(probe, unlessProblem),
  },
]

async function firstFound(probe: Probe, look: (failure: FailureSeen) => string | null): Promise<string | null> {
  const seen = probe.failures().filter(({ method }) => method !== 'HEAD')
  if (seen.length === 0) throw new CannotTellError('there was no error')
  for (const failure of seen) {
    const found = look(failure)
    if (found !== null) return `${nameOf(failure)} ${found}`
  }
  return null
}

function unlessProblem({ answer }: FailureSeen): string | null {
  const type = answer.headers['content-type'] ?? 'nothing'
  if (!/^application\/problem\+json/.test(type)) return `is ${type}`
  const body = jsonOf(answer)
  if (memberOf(body, 'status') !== answer.status) return 'has another status in its body'
  return typeof memberOf(body, 'code') === 'string' ? null : 'has no code'
}

function nameOf({ method, path, answer }: FailureSeen): string {
  return `the ${answer.status} to ${method} ${path}`
}
