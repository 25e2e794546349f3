// The options of `serve` for the admin port, which serves metrics and health.
import { z } from 'zod'
import { inGroup, integer } from '../option.ts'

export const adminOptions = inGroup('Metrics, logs and traces', {
  adminPort: {
    flags: '--admin-port <port>',
    description:
      'port for /metrics, /healthz, /readyz and /version, separate from the client port; 0 picks a free one (default: none)',
    schema: integer(0, 65_535).optional(),
  },
  adminHost: {
    flags: '--admin-host <host>',
    description: 'address that --admin-port listens on; there is no authentication',
    default: '127.0.0.1',
    schema: z.string().min(1, 'must not be empty'),
  },
})
