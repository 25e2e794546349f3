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
  return (
    <nav className="routes" aria-label="Routes">
      <ul>
        {routes.map((route) => (
          <li key={routeName(route)}>
            <RouteButton route={route} isCurrent={route === current} onChoose={() => onChoose(route)} />
          </li>
        ))}
      </ul>
    </nav>
  )
}

interface RouteButtonProps {
  readonly route: ExplorerRoute
  readonly isCurrent: boolean
  readonly onChoose: () => void
}

function RouteButton({ route, isCurrent, onChoose }: RouteButtonProps): ReactNode {
  const button = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => {
    if (!isCurrent) return
    const show = () => button.current && bringIntoSight(button.current)
    show()
    // A phone that is turned.
    addEventListener('resize', show)
    return () => removeEventListener('resize', show)
  }, [isCurrent])
  return (
    <button ref={button} type="button" aria-current={isCurrent ? 'true' : undefined} onClick={onChoose}>
      <span className="route">
        <span className={`method ${route.method.toLowerCase()}`}>{route.method}</span>{' '}
        <span className="path">{route.path}</span>
      </span>
      <span className="summary">{route.summary}</span>
    </button>
  )
}

/** In a narrow window the routes are one row that scrolls. */
function bringIntoSight(button: HTMLElement): void {
  const list = button.closest('.routes')
  if (!list) return
  const [row, one] = [list.getBoundingClientRect(), button.getBoundingClientRect()]
  if (one.left >= row.left && one.right <= row.right) return
  list.scrollLeft += one.left - row.left - (row.width - one.width) / 2
}
