// GET /exports: what only it has, the reference.
import { type Check, unlessStatus } from '../check.ts'
import type { ProbeAnswer } from '../exchange.ts'
import type { Probe } from '../probe.ts'

const group = 'GET /exports'
/** No project of anybody is called this. */
const UNKNOWN_REFERENCES = ['no-such-project-3f1c9a', 'no such/project?&r=%25é"']

export const EXPORT_CHECKS: readonly Check[] = [
  {
    group,
    name: 'answers 404 for a reference there is not',
    source: 'contract',
    async run(probe) {
      for (const ref of UNKNOWN_REFERENCES) {
        const found = unlessStatus(await readAsUser(probe, `/exports?r=${encodeURIComponent(ref)}`), 404)
        if (found !== null) return found
      }
      return null
    },
  },
  {
    group,
    name: 'answers no export without r',
    source: 'contract',
    async run(probe) {
      const { status } = await readAsUser(probe, '/exports')
      return status < 400 ? `answered ${status}` : null
    },
  },
  {
    group,
    name: 'answers 400 without r',
    source: 'gateway',
    run: async (probe) => unlessStatus(await readAsUser(probe, '/exports'), 400),
  },
]

async function readAsUser(probe: Probe, path: string): Promise<ProbeAnswer> {
  const { accessToken } = await probe.session()
  return probe.send({ method: 'GET', path, headers: { authorization: `Bearer ${accessToken}` } })
}
