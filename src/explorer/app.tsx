// The frame around every page: where one is, who one is, light or dark.
import { lazy, type ReactNode, Suspense, useEffect } from 'react'
import { Account } from './account.tsx'
import { Link, useAddress } from './navigation.tsx'
import { RosettaPage } from './rosetta/rosetta-page.tsx'
import { SignInPanel } from './sign-in-panel.tsx'
import { type Theme, useTheme } from './theme.ts'
import { useSessionState } from './use-explorer.ts'

const GraphiqlPage = lazy(() => import('./graphiql/graphiql-page.tsx').then((page) => ({ default: page.GraphiqlPage })))
const WorkspacePage = lazy(() =>
  import('./workspace/workspace-page.tsx').then((page) => ({ default: page.WorkspacePage })),
)
const DocsPage = lazy(() => import('./docs/docs-page.tsx').then((page) => ({ default: page.DocsPage })))

interface PageProps {
  readonly theme: Theme
}

interface PageRow {
  readonly path: string
  readonly label: string
  readonly title: string
  readonly isPublic: boolean
  readonly Page: (props: PageProps) => ReactNode
}

const PAGES: readonly PageRow[] = [
  { path: '/', label: 'REST ↔ GraphQL', title: 'REST and GraphQL', isPublic: false, Page: () => <RosettaPage /> },
  {
    path: '/graphql',
    label: 'GraphiQL',
    title: 'GraphiQL',
    isPublic: false,
    Page: ({ theme }) => <GraphiqlPage theme={theme} />,
  },
  { path: '/workspace', label: 'Workspace', title: 'Workspace', isPublic: false, Page: () => <WorkspacePage /> },
  { path: '/docs', label: 'Reference', title: 'Reference', isPublic: true, Page: () => <DocsPage /> },
]

export function App(): ReactNode {
  const [theme, setTheme] = useTheme()
  const path = useAddress().split('?')[0] || '/'
  const { phase, email } = useSessionState()
  const page = PAGES.find((row) => row.path === path)
  useEffect(() => {
    document.title = `${page?.title ?? 'Not found'} · Workspace Gateway`
  }, [page])

  return (
    <>
      <a className="skip" href={`${path}#main`}>
        Skip to content
      </a>
      <header className="frame">
        <Link to="/" className="brand">
          <span className="mark" aria-hidden="true" />
          Workspace Gateway
        </Link>
        <nav aria-label="Pages">
          {PAGES.map((row) => (
            <Link key={row.path} to={row.path} isCurrent={row === page}>
              {row.label}
            </Link>
          ))}
        </nav>
        <div className="tools">
          <button type="button" className="quiet" onClick={() => setTheme(theme === 'dark' ? 'light' : 'dark')}>
            {theme === 'dark' ? 'Light' : 'Dark'}
            <span className="unseen"> theme</span>
          </button>
          <Account />
        </div>
      </header>
      <main id="main" tabIndex={-1} className={path === '/graphql' ? 'full' : undefined}>
        {phase === 'starting' ? (
          <p className="note pad">Signing in …</p>
        ) : page === undefined ? (
          <p className="pad">There is no page at this address.</p>
        ) : phase === 'signed-in' || page.isPublic ? (
          <Suspense fallback={<p className="note pad">Loading …</p>}>
            <page.Page key={email ?? ''} theme={theme} />
          </Suspense>
        ) : (
          <SignInPanel />
        )}
      </main>
    </>
  )
}
