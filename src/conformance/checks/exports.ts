// Checks of GET /exports that concern its parameter `r`, the reference.
import { type Check, unlessStatus } from '../check.ts'

const group = 'GET /exports'
/** References that no project has. */
const UNKNOWN_REFERENCES = ['no-such-project-3f1c9a', 'no such/project?&r=%25é"']

export const EXPORT_CHECKS: readonly Check[] = [
  {
    group,
    name: 'answers 404 for a reference there is not',
    source: 'contract',
    async run(probe) {
      for (const ref of UNKNOWN_REFERENCES) {
        const found = unlessStatus(
          await probe.sendAsUser({ method: 'GET', path: `/exports?r=${encodeURIComponent(ref)}` }),
          404,
        )
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
      const { status } = await probe.sendAsUser({ method: 'GET', path: '/exports' })
      return status < 400 ? `answered ${status}` : null
    },
  },
  {
    group,
    name: 'answers 400 without r',
    source: 'gateway',
    run: async (probe) => unlessStatus(await probe.sendAsUser({ method: 'GET', path: '/exports' }), 400),
  },
]
