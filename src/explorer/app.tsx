// Chooses the page for the address and renders it in the frame for the signed-in user.
import { type ReactNode, useEffect } from 'react'
import { Skeleton } from './design/skeleton.tsx'
import { type Theme, useTheme } from './design/theme.ts'
import { EmptyPage } from './frame/empty-page.tsx'
import { ErrorBoundary } from './frame/error-boundary.tsx'
import { Frame } from './frame/frame.tsx'
import { lazyPart } from './frame/lazy-part.tsx'
import { usePlace, useSessionState } from './frame/use-explorer.ts'
import { RosettaPage } from './rosetta/rosetta-page.tsx'
import { SignInCard } from './sign-in/sign-in-card.tsx'
import { useSessionToasts } from './sign-in/use-session-toasts.ts'

interface PageProps {
  readonly theme: Theme
}

interface PageRow {
  readonly path: string
  readonly label: string
  readonly title: string
  readonly isPublic: boolean
  readonly isMenu: boolean
  readonly Page: (props: PageProps) => ReactNode
}

const GraphiqlPage = lazyPart(async () => (await import('./graphiql/graphiql-page.tsx')).GraphiqlPage)
const WorkspacePage = lazyPart(async () => (await import('./workspace/workspace-page.tsx')).WorkspacePage)
const ReferencePage = lazyPart(async () => (await import('./reference/reference-page.tsx')).ReferencePage)
const SessionsPage = lazyPart(async () => (await import('./sign-in/sessions-page.tsx')).SessionsPage)

const PAGES: readonly PageRow[] = [
  {
    path: '/',
    label: 'REST ↔ GraphQL',
    title: 'REST and GraphQL',
    isPublic: false,
    isMenu: true,
    Page: RosettaPage,
  },
  { path: '/graphql', label: 'GraphiQL', title: 'GraphiQL', isPublic: false, isMenu: true, Page: GraphiqlPage },
  { path: '/workspace', label: 'Workspace', title: 'Workspace', isPublic: false, isMenu: true, Page: WorkspacePage },
  { path: '/docs', label: 'Reference', title: 'Reference', isPublic: true, isMenu: true, Page: ReferencePage },
  { path: '/sessions', label: 'Sessions', title: 'Sessions', isPublic: false, isMenu: false, Page: SessionsPage },
]

export function App(): ReactNode {
  const theme = useTheme()
  const { path } = usePlace()
  const { phase, email } = useSessionState()
  const page = PAGES.find((row) => row.path === path)
  useSessionToasts(page?.isPublic === true)
  useEffect(() => {
    document.title = `${page?.title ?? 'Not found'} · Workspace Gateway`
  }, [page])

  return (
    <Frame pages={PAGES.filter(({ isMenu }) => isMenu)} path={path} theme={theme}>
      {page === undefined ? (
        <EmptyPage />
      ) : phase === 'starting' ? (
        <Skeleton label="Signing in" />
      ) : phase === 'signed-in' || page.isPublic ? (
        <ErrorBoundary key={page.path}>
          {/* A public page is the same for every user, and stays where it is scrolled when one signs in. */}
          <page.Page key={page.isPublic ? '' : (email ?? '')} theme={theme.theme} />
        </ErrorBoundary>
      ) : (
        <SignInCard />
      )}
    </Frame>
  )
}
