// The command palette (Command+K or Ctrl+K): jumps to any page, route, project, template, library or file.
import {
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
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
import { exactFirst, searchedText } from '../searched-text.ts'
import { addressOf } from '../workspace/addresses.ts'
import type { FoundFile } from '../workspace/files/found-file.ts'
import { addressOfFile, matchingFiles } from '../workspace/files/found-files.ts'
import { useFoundFiles } from '../workspace/files/use-found-files.ts'
import { KIND_LABELS, KINDS, loadWorkspace, type Workspace } from '../workspace/items.ts'
import { visibleName } from '../workspace/shown-name.ts'
import { useExplorer } from './use-explorer.ts'
import { useLoaded } from './use-loaded.ts'

interface Entry {
  /** The target address; it is also the key of the entry. */
  readonly id: string
  readonly name: string
  readonly note: string
  /** The reference of a project, or the id of another document. */
  readonly itemKey?: string
}

interface PaletteProps {
  readonly onClose: () => void
}

const LABEL = 'Go to a page, a route, a project, a file …'
const MOST_SHOWN = 40
/** Maximum number of files, so that other matches have room. */
const MOST_FILES_SHOWN = 20
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
  /** The text for which Enter was pressed before its results were ready; null otherwise. */
  const [entered, setEntered] = useState<string | null>(null)
  const routes = useMemo<readonly Entry[]>(
    () =>
      facts.routes.map((route) => ({
        id: `/?${new URLSearchParams({ route: routeName(route) })}`,
        name: routeName(route),
        note: route.summary,
      })),
    [facts],
  )
  const workspace = loaded.phase === 'ready' ? loaded.value : null
  const items = useMemo(() => (workspace ? entriesOf(workspace) : []), [workspace])
  const { files, note: filesNote } = useFoundFiles(workspace, words.trim() !== '')
  const searched = useDeferredValue(words)
  const shown = useMemo(() => {
    const wanted = searchedText(searched).trim().split(/\s+/)
    const found = searched.trim() === '' ? [] : matchingFiles(files, wanted, MOST_FILES_SHOWN)
    const others = [...PAGES, ...routes, ...items].filter(({ name, note }) =>
      wanted.every((word) => searchedText(`${name} ${note}`).includes(word)),
    )
    const first = exactFirst(others, searched, ({ name, itemKey = '' }) => [name, itemKey])
    return [...first.slice(0, MOST_SHOWN - found.length), ...found.map(entryOfFile)]
  }, [searched, routes, items, files])

  const places = useRef<HTMLDivElement>(null)
  const go = useCallback(
    (place: string) => {
      onClose()
      navigation.go(place)
    },
    [onClose, navigation],
  )
  const first = shown[0]?.id
  useEffect(() => {
    if (first !== undefined && entered === searched) go(first)
  }, [first, entered, searched, go])

  /**
   * Autocomplete drops Enter while its list has not caught up with the typed text, so somebody who types fast and
   * presses Enter would stay where they are. This handler remembers the text and navigates when its results arrive.
   */
  function enter(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
    event.preventDefault()
    event.stopPropagation()
    const focused = places.current?.querySelector<HTMLElement>('[role="option"][data-focused]')?.dataset.key
    if (focused !== undefined && words === searched) go(focused)
    else if (words.trim() !== '') setEntered(words)
  }

  return (
    <ModalOverlay className="veil" isOpen isDismissable onOpenChange={(isOpen) => isOpen || onClose()}>
      <Modal className="dialog">
        <Dialog aria-label="Go to">
          <Autocomplete
            inputValue={words}
            onInputChange={(written) => {
              setWords(written)
              setEntered(null)
            }}
          >
            <SearchField aria-label={LABEL} autoFocus>
              <Input className="palette-input" placeholder={LABEL} onKeyDownCapture={enter} />
            </SearchField>
            <ListBox
              ref={places}
              aria-label="Places"
              items={shown}
              onAction={(key) => go(String(key))}
              renderEmptyState={() => (
                <span className="option note">
                  {loaded.phase === 'loading' ? 'Reading the workspace …' : 'Nothing fits'}
                </span>
              )}
            >
              {({ id, name, note }) => (
                <ListBoxItem id={id} textValue={name} className="option">
                  <bdi>{name}</bdi>
                  <small>{note}</small>
                </ListBoxItem>
              )}
            </ListBox>
            <p className="note palette-note" role="status">
              {loaded.phase === 'failed'
                ? `Your workspace could not be read. ${loaded.message}`
                : words.trim() === ''
                  ? ''
                  : filesNote}
            </p>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}

function entryOfFile(file: FoundFile): Entry {
  const { path, from } = file
  const place = from.exportKey === undefined ? from.name : `${from.name}, the export that is open`
  const name = path.slice(path.lastIndexOf('/') + 1)
  return { id: addressOfFile(file), name: visibleName(name), note: `${place} · ${visibleName(path)}` }
}

function entriesOf(workspace: Workspace): readonly Entry[] {
  return KINDS.flatMap((kind) =>
    workspace[kind].map(({ key, name }) => ({
      id: addressOf({ kind, opened: key }),
      name,
      note: `${KIND_LABELS[kind]} · ${visibleName(key)}`,
      itemKey: key,
    })),
  )
}
