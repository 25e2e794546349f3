// The banner that is shown while the gateway is unreachable.
import { CloudOff } from 'lucide-react'
import type { ReactNode } from 'react'
import { passFocusOn } from '../design/failure.tsx'
import { PROBE_INTERVAL_MS, REDIRECTED } from './connection.ts'
import { useConnection, useExplorer } from './use-explorer.ts'

export function OfflineBanner(): ReactNode {
  const { connection } = useExplorer()
  const { isUp, isRedirected } = useConnection()
  return (
    <div role="status">
      {!isUp && (
        <p className="banner">
          <span>
            <CloudOff size={16} aria-hidden="true" />{' '}
            {isRedirected ? (
              REDIRECTED
            ) : (
              <>The gateway does not answer; trying again in {PROBE_INTERVAL_MS / 1_000}&nbsp;s.</>
            )}
          </span>
          <button ref={passFocusOn} type="button" className="small" onClick={() => void connection.probe()}>
            Try now
          </button>
        </p>
      )}
    </div>
  )
}
