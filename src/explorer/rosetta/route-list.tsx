// The route table, to choose from.
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import type { ExplorerRoute } from '../../pages/explorer-config.ts'
import { routeName } from './rosetta-state.ts'

interface RouteListProps {
  readonly routes: readonly ExplorerRoute[]
  readonly current: ExplorerRoute
  readonly onChoose: (route: ExplorerRoute) => void
}

export function RouteList({ routes, current, onChoose }: RouteListProps): ReactNode {
  const list = useRef<HTMLElement>(null)
  // In a narrow window the routes are one row that scrolls: the chosen one is in sight.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another route is another element with aria-current.
  useLayoutEffect(() => {
    const chosen = list.current?.querySelector('[aria-current]')
    if (!list.current || !chosen) return
    const [row, one] = [list.current.getBoundingClientRect(), chosen.getBoundingClientRect()]
    if (one.left >= row.left && one.right <= row.right) return
    list.current.scrollLeft += one.left - row.left - (row.width - one.width) / 2
  }, [current])
  return (
    <nav ref={list} className="routes" aria-label="Routes">
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
