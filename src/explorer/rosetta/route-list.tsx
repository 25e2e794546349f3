// The list of routes to choose from.
import { type ReactNode, useRef } from 'react'
import type { ExplorerRoute } from '../../pages/explorer-config.ts'
import { useCurrentInSight } from '../frame/navigation/use-current-in-sight.ts'
import { routeName } from './rosetta-state.ts'

interface RouteListProps {
  readonly routes: readonly ExplorerRoute[]
  readonly current: ExplorerRoute
  readonly onChoose: (route: ExplorerRoute) => void
}

export function RouteList({ routes, current, onChoose }: RouteListProps): ReactNode {
  const row = useRef<HTMLElement>(null)
  useCurrentInSight(row, routes.indexOf(current))
  return (
    <nav ref={row} className="routes" aria-label="Routes">
      <ul>
        {routes.map((route) => (
          <li key={routeName(route)}>
            <button type="button" aria-current={route === current ? 'true' : undefined} onClick={() => onChoose(route)}>
              <span className="route">
                <span className={`method ${route.method.toLowerCase()}`}>{route.method}</span>{' '}
                <span className="path">{route.path}</span>
              </span>
              <span className="summary">{route.summary}</span>
            </button>
          </li>
        ))}
      </ul>
    </nav>
  )
}
