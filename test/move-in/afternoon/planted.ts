// Plants differences between the two servers, which both gateways must find when they shadow the old one.
import { setTimeout as delay } from 'node:timers/promises'
import { createClient, readSession } from '../../support/client.ts'
import { runHere } from '../../support/command-line.ts'
import type { PlainServer } from '../../support/plain-server.ts'
import { documentLine } from '../../support/workspaces.ts'
import type { LoggedDifference, Nodes } from './nodes.ts'
import { changeLargeExport, LARGE } from './old-world.ts'
import { READER } from './people.ts'

/** The time for the shadow to see and to confirm a difference. */
const PATIENCE_MS = 200_000

export interface Planter {
  /** Changes the first project of this user on this side; returns what both gateways must report. */
  readonly here: (email: string, database: string) => Promise<LoggedDifference>
  /** Changes something of this user on the old server, so that follow replaces the planted change. */
  readonly mendHere: (email: string) => void
  /** Changes a byte of the large export of this user on the old server until both gateways have reported it. */
  readonly there: (email: string) => Promise<LoggedDifference>
}

export function planter(old: PlainServer, frontUrl: string, nodes: Nodes): Planter {
  /** Reads until both gateways have found a difference; returns the user that they report, who is unknown before. */
  async function readUntilFound(email: string, path: string): Promise<string> {
    using client = createClient(frontUrl)
    const { accessToken } = readSession(await client.login(email))
    const until = Date.now() + PATIENCE_MS
    while (nodes.differences().some((found) => found.length === 0)) {
      if (Date.now() > until) throw new Error('the planted difference was not found')
      await client.get(path, accessToken, READER.headers)
      await delay(500)
    }
    return nodes.differences()[0]?.[0]?.user ?? ''
  }

  return {
    async here(email, database) {
      const [project = '{}'] = old.workspaces.get(email)?.projects ?? []
      const changed = project.replace(/\}$/, ',"planted":1}')
      const { exitCode, stderr } = await runHere(['import', '-', '--database', database], {
        stdin: documentLine('project', email, changed),
      })
      if (exitCode !== 0) throw new Error(stderr)
      const user = await readUntilFound(email, '/projects')
      return { route: 'GET /projects', ours: 200, old: 200, at: Buffer.byteLength(project), user, ref: null }
    },
    mendHere(email) {
      old.workspaces.get(email)?.projects.push('{"id":"mended","ref":"mended"}')
    },
    async there(email) {
      const before = old.workspaces.get(email)?.exports.get(LARGE)
      const at = changeLargeExport(old)
      const user = await readUntilFound(email, `/exports?r=${LARGE}`)
      if (before) old.workspaces.get(email)?.exports.set(LARGE, before)
      return { route: 'GET /exports', ours: 200, old: 200, at, user, ref: LARGE }
    },
  }
}
