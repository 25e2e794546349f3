// A text field that accepts any text and suggests values: React Aria's combobox with the styles of these pages.
import { ChevronDown } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useContext, useMemo } from 'react'
import {
  ComboBox as AriaComboBox,
  Button,
  ComboBoxStateContext,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
} from 'react-aria-components'
import { exactFirst, searchedText } from '../searched-text.ts'

export interface Suggestion {
  readonly value: string
  readonly name: string
  readonly note: string
}

export interface ComboBoxProps {
  readonly label: ReactNode
  readonly value: string
  readonly suggestions: readonly Suggestion[]
  readonly onChange: (value: string) => void
  /** Called when the person presses Enter, with the new value of the field. */
  readonly onEnter: (value: string) => void
}

const MOST_SHOWN = 60

export function ComboBox({ label, value, suggestions, onChange, onEnter }: ComboBoxProps): ReactNode {
  const shown = useMemo(() => matching(suggestions, value), [suggestions, value])
  return (
    <AriaComboBox
      className="combo"
      items={shown}
      inputValue={value}
      onInputChange={onChange}
      onSelectionChange={(key) => key !== null && onChange(String(key))}
      allowsCustomValue
      allowsEmptyCollection
      menuTrigger="focus"
    >
      <Label>{label}</Label>
      <div className="combo-field">
        <Field value={value} shown={shown} onEnter={onEnter} />
        <Button aria-label="Suggestions">
          <ChevronDown size={15} aria-hidden="true" />
        </Button>
      </div>
      <Popover className="combo-list">
        <ListBox<Suggestion> renderEmptyState={() => <span className="option note">No project like this</span>}>
          {({ value: suggested, name, note }) => (
            <ListBoxItem id={suggested} textValue={suggested} className="option">
              <span dir="auto">{name}</span>
              <small>{note}</small>
              <small>{suggested}</small>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaComboBox>
  )
}

type FieldProps = Pick<ComboBoxProps, 'value' | 'onEnter'> & { readonly shown: readonly Suggestion[] }

function Field({ value, shown, onEnter }: FieldProps): ReactNode {
  const state = useContext(ComboBoxStateContext)
  const only = shown.length === 1 && value.trim() !== '' ? shown[0] : undefined

  /**
   * Enter takes the option that the arrow keys have focused, or else the only suggestion that matches. After Escape,
   * which closes the list, it takes the typed text.
   */
  function enter(event: KeyboardEvent): void {
    // An input method takes Enter to end a word.
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
    const pointedAt = state?.isOpen ? state.selectionManager.focusedKey : null
    if (pointedAt != null) {
      // React Aria selects the focused option itself.
      onEnter(String(pointedAt))
    } else if (state?.isOpen && only) {
      // Without this, React Aria would commit the typed text.
      event.stopPropagation()
      state.selectionManager.select(only.value)
      onEnter(only.value)
    } else {
      onEnter(value)
    }
  }
  return <Input spellCheck={false} autoComplete="off" onKeyDownCapture={enter} />
}

/** Returns all suggestions while the field holds one of them, because the person then wants to see the others. */
function matching(suggestions: readonly Suggestion[], typed: string): readonly Suggestion[] {
  const words = searchedText(typed).trim()
  const isChosen = suggestions.some(({ value }) => value === typed)
  const found = isChosen
    ? suggestions
    : suggestions.filter(({ value, name }) => searchedText(`${value} ${name}`).includes(words))
  return exactFirst(found, typed, ({ name }) => [name]).slice(0, MOST_SHOWN)
}
