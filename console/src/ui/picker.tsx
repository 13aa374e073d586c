import '../later.css';
import { Autocomplete } from '@base-ui/react/autocomplete';
import { useRef, useState, type ReactNode } from 'react';
import { useDirectory, type Entry } from './directory.ts';
import { Face } from './face.tsx';

const SHOWN = 8;

interface Props {
  readonly name: string;
  readonly label: string;
  readonly defaultValue?: string;
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  /** Several, with commas between: what is picked is added. */
  readonly isList?: boolean;
  readonly kind?: (entry: Entry) => boolean;
  /** Each text that it has, typed or picked. */
  readonly onChange?: (value: string) => void;
  /** One that was picked. */
  readonly onPick?: (id: string) => void;
}

/** A field for the id of a person or a thing, which offers those whose name or id begins to be typed. */
export function Picker({
  name,
  label,
  defaultValue = '',
  isList = false,
  isRequired,
  ...props
}: Props): ReactNode {
  const { placeholder = 'Name or id', kind, onChange, onPick } = props;
  const [value, setValue] = useState(defaultValue);
  const parts = isList ? value.split(',') : [value];
  const typed = parts.at(-1)?.trim() ?? '';
  const { entries } = useDirectory(typed, kind);
  const highlighted = useRef<Entry | undefined>(undefined);
  const before = parts.slice(0, -1).map((one) => one.trim());
  const textOf = ({ id }: Entry): string => (isList ? `${[...before, id].join(', ')}, ` : id);
  return (
    <label>
      {label}
      <Autocomplete.Root
        items={entries.slice(0, SHOWN)}
        filter={null}
        value={value}
        openOnInputClick
        onItemHighlighted={(entry) => {
          highlighted.current = entry;
        }}
        itemToStringValue={textOf}
        onValueChange={(next) => {
          setValue(next);
          onChange?.(next);
        }}
      >
        <Autocomplete.Input
          {...{ name, placeholder }}
          required={isRequired}
          autoComplete="off"
          spellCheck={false}
          onKeyDown={(event) => {
            // The key sends the form, where it chooses nobody.
            if (event.key === 'Enter' && highlighted.current === undefined) event.preventBaseUIHandler();
          }}
        />
        <Autocomplete.Portal>
          <Autocomplete.Positioner className="picks-at" align="start" sideOffset={4}>
            <Autocomplete.Popup className="picks">
              <Autocomplete.List>
                {(entry: Entry) => (
                  <Autocomplete.Item
                    key={`${entry.kind} ${entry.id}`}
                    value={entry}
                    onClick={() => onPick?.(entry.id)}
                  >
                    <Face of={entry} />
                    <span dir="auto">{entry.name}</span>
                    <span dir="auto">{entry.id === entry.name ? entry.kind : entry.id}</span>
                  </Autocomplete.Item>
                )}
              </Autocomplete.List>
            </Autocomplete.Popup>
          </Autocomplete.Positioner>
        </Autocomplete.Portal>
      </Autocomplete.Root>
    </label>
  );
}
