// From anywhere to any page, route, project, template or library, by Command or Control and K.
import { type ReactNode, useMemo, useState } from 'react'
import {
  Autocomplete,
  Dialog,
  Input,
  ListBox,
  ListBoxItem,
  Modal,
  ModalOverlay,
  SearchField,
} from 'react-aria-components'
import { routeName } from '../rosetta/rosetta-state.ts'
import { addressOf } from '../workspace/addresses.ts'
import { KIND_LABELS, KINDS, loadWorkspace, type Workspace } from '../workspace/items.ts'
import { useExplorer } from './use-explorer.ts'
import { useLoaded } from './use-loaded.ts'

interface Entry {
  /** Where it leads. */
  readonly id: string
  readonly name: string
  readonly note: string
}

interface PaletteProps {
  readonly onClose: () => void
}

const MOST_SHOWN = 40
const PAGES: readonly Entry[] = [
  { id: '/', name: 'REST and GraphQL', note: 'Page' },
  { id: '/graphql', name: 'GraphiQL', note: 'Page' },
  { id: '/workspace', name: 'Workspace', note: 'Page' },
  { id: '/docs', name: 'Reference', note: 'Page' },
  { id: '/sessions', name: 'Sessions', note: 'Page' },
]

export function Palette({ onClose }: PaletteProps): ReactNode {
  const { session, facts, navigation } = useExplorer()
  const [load] = useState(() => () => loadWorkspace(session))
  const loaded = useLoaded(load)
  const [words, setWords] = useState('')
  const routes = useMemo(
    () =>
      facts.routes.map((route) => ({
        id: `/?${new URLSearchParams({ route: routeName(route) })}`,
        name: routeName(route),
        note: route.summary,
      })),
    [facts],
  )
  const items = useMemo(() => (loaded.phase === 'ready' && loaded.value ? entriesOf(loaded.value) : []), [loaded])
  const shown = useMemo(() => {
    const wanted = words.toLowerCase().split(/\s+/)
    return [...PAGES, ...routes, ...items]
      .filter(({ name, note }) => wanted.every((word) => `${name} ${note}`.toLowerCase().includes(word)))
      .slice(0, MOST_SHOWN)
  }, [words, routes, items])

  return (
    <ModalOverlay className="veil" isOpen isDismissable onOpenChange={(isOpen) => isOpen || onClose()}>
      <Modal className="dialog">
        <Dialog aria-label="Go to">
          <Autocomplete inputValue={words} onInputChange={setWords}>
            <SearchField aria-label="Go to a page, a route, a project …" autoFocus>
              <Input className="palette-input" placeholder="Go to a page, a route, a project …" />
            </SearchField>
            <ListBox
              aria-label="Places"
              items={shown}
              onAction={(key) => {
                onClose()
                navigation.go(String(key))
              }}
              renderEmptyState={() => <span className="option note">Nothing fits</span>}
            >
              {({ id, name, note }) => (
                <ListBoxItem id={id} textValue={name} className="option">
                  <bdi>{name}</bdi>
                  <small>{note}</small>
                </ListBoxItem>
              )}
            </ListBox>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}

function entriesOf(workspace: Workspace): readonly Entry[] {
  return KINDS.flatMap((kind) =>
    workspace[kind].map(({ key, name }) => ({
      id: addressOf({ kind, opened: key }),
      name,
      note: `${KIND_LABELS[kind]} · ${key}`,
    })),
  )
}
