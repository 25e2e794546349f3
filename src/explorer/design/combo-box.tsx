// A field that takes any text and suggests some: React Aria's combobox in our clothes.
import { ChevronDown } from 'lucide-react'
import { type ReactNode, useMemo } from 'react'
import { ComboBox as AriaComboBox, Button, Input, Label, ListBox, ListBoxItem, Popover } from 'react-aria-components'

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
  readonly onEnter: () => void
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
        <Input
          spellCheck={false}
          autoComplete="off"
          onKeyDown={(event) => {
            const isChoosing = event.currentTarget.getAttribute('aria-activedescendant') !== null
            if (event.key === 'Enter' && !isChoosing) onEnter()
          }}
        />
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

/** All of them while the field holds one of them: then the person wants to see the others. */
function matching(suggestions: readonly Suggestion[], typed: string): readonly Suggestion[] {
  const words = typed.toLowerCase().trim()
  const isChosen = suggestions.some(({ value }) => value === typed)
  const found = isChosen
    ? suggestions
    : suggestions.filter(({ value, name }) => `${value} ${name}`.toLowerCase().includes(words))
  return found.slice(0, MOST_SHOWN)
}
