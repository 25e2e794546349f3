// The file browser: a file tree beside a preview. Stored content is only ever shown as text or as an image.
import { ChevronsDownUp } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { sizeText } from '../../answer/answer.ts'
import { IconButton } from '../../design/icon-button.tsx'
import { searchedText } from '../../searched-text.ts'
import type { LinePlace } from '../../text/use-line-place.ts'
import { byteLengthOf, type Element } from '../project/elements.ts'
import { visibleName } from '../shown-name.ts'
import { FilePreview } from './file-preview.tsx'
import { FileTree } from './file-tree.tsx'
import { entryOf, foldersOf, rowsOf, treeOf } from './tree.ts'
import './file-browser.css'

/** Up to this number of files, all folders are expanded initially. */
const FEW = 60
const FEW_FOUND = 600

interface FileBrowserProps {
  readonly elements: readonly Element[]
  /** What contains the files, for a message. */
  readonly of: 'export' | 'template' | 'UI library'
  /** The path of the selected file; null to select the entry file. */
  readonly file: string | null
  readonly onFile: (path: string) => void
  /** The scroll position in the selected file. */
  readonly place: LinePlace
}

export function FileBrowser({ elements, of, file, onFile, place }: FileBrowserProps): ReactNode {
  const [picked, setPicked] = useState<Element | null>(null)
  const chosen = useMemo(() => {
    if (file === null) return entryOf(elements)
    // If several files share a path, keep the one that the person clicked.
    if (picked?.path === file && elements.includes(picked)) return picked
    return elements.find(({ path }) => path === file) ?? null
  }, [elements, file, picked])
  // Memoized per file: the file may be large, and each letter of a search renders again.
  const size = useMemo(() => (chosen === null ? '' : sizeText(byteLengthOf(chosen))), [chosen])
  const [search, setSearch] = useState('')
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(
    () =>
      new Set(
        elements.length <= FEW
          ? elements.flatMap(({ path }) => foldersOf(path))
          : foldersOf(chosen?.path ?? file ?? ''),
      ),
  )
  const isSearching = search !== ''
  const found = useMemo(() => {
    const words = searchedText(search)
    return words === '' ? elements : elements.filter(({ path }) => searchedText(path).includes(words))
  }, [elements, search])
  // A search has its own set of expanded folders, so that the other set is unchanged after it.
  const [unfoldedFound, setUnfoldedFound] = useState({ found, folders: foldersOfFirst(found) })
  if (found !== unfoldedFound.found) setUnfoldedFound({ found, folders: foldersOfFirst(found) })
  const open = isSearching ? unfoldedFound.folders : unfolded
  function setOpen(folders: ReadonlySet<string>): void {
    if (isSearching) setUnfoldedFound({ found, folders })
    else setUnfolded(folders)
  }

  const [shown, setShown] = useState(chosen)
  // The palette, back or forward may also change the selected file.
  if (chosen !== shown) {
    const folders = foldersOf(chosen?.path ?? '')
    setShown(chosen)
    setUnfolded(new Set([...unfolded, ...folders]))
    setUnfoldedFound((now) => ({ found, folders: new Set([...now.folders, ...folders]) }))
  }
  const tree = useMemo(() => treeOf(found), [found])
  const rows = useMemo(() => rowsOf(tree, open), [tree, open])

  function choose(element: Element): void {
    setPicked(element)
    onFile(element.path)
  }

  function fold(folder: string, isOpen: boolean): void {
    const next = new Set(open)
    if (isOpen) next.add(folder)
    else next.delete(folder)
    setOpen(next)
  }

  return (
    <div className="browser">
      <div className="tree-side">
        <div className="tree-tools">
          <input
            type="search"
            aria-label="Find a file"
            placeholder={`Find in ${elements.length.toLocaleString()} ${elements.length === 1 ? 'file' : 'files'}`}
            value={search}
            onChange={({ target }) => setSearch(target.value)}
          />
          <IconButton icon={ChevronsDownUp} title="Fold all folders" onClick={() => setOpen(new Set())} />
        </div>
        {/* Always rendered, and seen only where the tree is empty: screen readers announce what a search finds. */}
        <p className={found.length > 0 ? 'unseen' : 'note'} role="status">
          {isSearching && (found.length > 0 ? `${found.length.toLocaleString()} found` : 'Nothing fits')}
        </p>
        <FileTree
          rows={rows}
          chosen={chosen}
          isUnfolded={(folder) => open.has(folder)}
          onFold={fold}
          onChoose={choose}
        />
      </div>
      <div className="preview">
        {chosen ? (
          <FilePreview key={chosen.path} element={chosen} sizeText={size} place={place} />
        ) : (
          <p className="note picture" role="status">
            <bdi className="file-path">{visibleName(file ?? '')}</bdi> is not in this {of}
          </p>
        )}
      </div>
    </div>
  )
}

function foldersOfFirst(found: readonly Element[]): ReadonlySet<string> {
  return new Set(found.slice(0, FEW_FOUND).flatMap(({ path }) => foldersOf(path)))
}
