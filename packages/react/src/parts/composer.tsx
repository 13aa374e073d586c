import type { Person } from '@fanfare/client';
import { useId, useRef, useState, type KeyboardEvent, type ReactNode, type SyntheticEvent } from 'react';
import { useMembers } from '../hooks/members.ts';
import { useWords } from '../hooks/words.ts';
import { useBrowserLayoutEffect } from './anchor.ts';
import { Avatar } from './avatar.tsx';

export interface ComposerProps {
  readonly label: string;
  /**
   * @param mentions ids of the people whom the text mentions
   * @param publishAt when it is to be published, for `publishAt` of `usePublish`; undefined: now
   */
  readonly onSend: (text: string, mentions: readonly string[], publishAt?: string) => Promise<void> | void;
  readonly children?: ReactNode;
  /** What it begins with, such as a text that is edited. */
  readonly initial?: string;
  /** Shows a button for it; Escape does it too. */
  readonly onCancel?: () => void;
  /** False: nobody is looked for after an @. Default true. */
  readonly withMentions?: boolean;
  /** Whether a later time can be chosen. Default false. */
  readonly withLater?: boolean;
}

/** An @ at the beginning of a word, and up to three words of a name behind it. */
const MENTION = /(?:^|[\s(])@([^\s@]*(?: [^\s@]+){0,2})$/u;

/**
 * A text and a button; Ctrl+Enter sends too. What cannot be sent comes back. After an @ it offers people: up and down choose, Enter
 * or Tab takes one, Escape closes.
 */
export function Composer({
  label,
  onSend,
  children,
  initial = '',
  onCancel,
  withMentions = true,
  withLater = false,
}: ComposerProps): ReactNode {
  const words = useWords();
  const [text, setText] = useState(initial);
  /** As the field has it; empty: not chosen yet. Null: now. */
  const [later, setLater] = useState<string | null>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const picker = usePicker(area, text, setText, withMentions);
  useBrowserLayoutEffect(() => {
    // It was opened to write in.
    if (onCancel !== undefined) area.current?.focus();
  }, []);
  const send = (event: SyntheticEvent): void => {
    event.preventDefault();
    const trimmed = text.trim();
    if (trimmed === '' || later === '') return;
    const mentions = picker.mentionedIn(trimmed);
    const given = later === null ? [] : [new Date(later).toISOString()];
    setText('');
    setLater(null);
    void Promise.resolve(onSend(trimmed, mentions, ...given)).catch(() => {
      setText((now) => (now === '' ? trimmed : now));
      setLater((now) => now ?? later);
    });
  };
  const press = (event: KeyboardEvent): void => {
    // Enter may choose a word of an input method. Safari ends composing before it says so, with this code alone.
    // oxlint-disable-next-line typescript/no-deprecated -- nothing else tells
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    const { key } = event;
    if (key === 'Enter' && (event.ctrlKey || event.metaKey)) send(event);
    else if (picker.press(key)) event.preventDefault();
    else if (key === 'Escape') onCancel?.();
  };
  return (
    <form data-fanfare="composer" onSubmit={send}>
      <label htmlFor={id} data-visually-hidden>
        {label}
      </label>
      <textarea
        ref={area}
        id={id}
        rows={1}
        dir="auto"
        placeholder={label}
        value={text}
        {...picker.attributes}
        onChange={({ target }) => {
          setText(target.value);
          picker.look(target.value, target.selectionStart);
        }}
        onSelect={({ currentTarget }) => picker.look(currentTarget.value, currentTarget.selectionStart)}
        onBlur={picker.close}
        onKeyDown={press}
      />
      {withLater && <Later at={later} onChange={setLater} />}
      <button type="submit">{later === null ? (children ?? words.send) : words.schedule}</button>
      {onCancel !== undefined && (
        <button type="button" data-fanfare="quiet" onClick={onCancel}>
          {words.cancel}
        </button>
      )}
      {picker.list}
    </form>
  );
}

interface LaterProps {
  readonly at: string | null;
  readonly onChange: (at: string | null) => void;
}

/** A button that opens a field for the time, and takes it away again. */
function Later({ at, onChange }: LaterProps): ReactNode {
  const words = useWords();
  return (
    <>
      <button
        type="button"
        data-fanfare="quiet"
        aria-expanded={at !== null}
        onClick={() => onChange(at === null ? '' : null)}
      >
        {at === null ? words.later : words.now}
      </button>
      {at !== null && (
        <input
          type="datetime-local"
          aria-label={words.publishAt}
          required
          value={at}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </>
  );
}

interface Picker {
  readonly attributes: Readonly<Record<string, string | undefined>>;
  readonly list: ReactNode;
  readonly look: (text: string, caret: number) => void;
  /** @returns whether the key was meant for it */
  readonly press: (key: string) => boolean;
  readonly close: () => void;
  /** Ids of the people who were taken and whose names are still there. */
  readonly mentionedIn: (text: string) => readonly string[];
}

/** The people to mention, as a list that belongs to the text: the focus stays there. */
function usePicker(
  area: { readonly current: HTMLTextAreaElement | null },
  text: string,
  setText: (text: string) => void,
  isOn: boolean,
): Picker {
  const words = useWords();
  const id = useId();
  const [search, setSearch] = useState<string | null>(null);
  const [active, setActive] = useState(0);
  const [taken, setTaken] = useState<readonly Person[]>([]);
  const { members } = useMembers(search);
  /** Where the text goes on behind a name that was taken. */
  const caret = useRef<number | null>(null);
  useBrowserLayoutEffect(() => {
    if (caret.current !== null) area.current?.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  }, [area, text]);
  const isOpen = search !== null && members.length > 0;
  const at = Math.min(active, members.length - 1);
  const close = (): void => setSearch(null);
  const take = (person: Person | undefined): void => {
    const end = area.current?.selectionStart ?? text.length;
    const name = `@${person?.name ?? ''} `;
    const before = text.slice(0, end).replace(/@[^@]*$/u, name);
    caret.current = before.length;
    setText(before + text.slice(end));
    if (person !== undefined)
      setTaken([...taken.filter(({ memberId }) => memberId !== person.memberId), person]);
    close();
  };
  const optionId = (index: number): string => `${id}-${String(index)}`;
  return {
    attributes: isOn
      ? {
          'aria-autocomplete': 'list',
          'aria-haspopup': 'listbox',
          'aria-controls': isOpen ? id : undefined,
          'aria-activedescendant': isOpen ? optionId(at) : undefined,
        }
      : {},
    look(now, end) {
      const written = isOn ? MENTION.exec(now.slice(0, end))?.[1] : undefined;
      // Behind a name that was taken the text goes on.
      const found =
        written === undefined || taken.some(({ name }) => written.startsWith(name)) ? null : written;
      if (found !== search) setActive(0);
      setSearch(found);
    },
    press(key) {
      if (!isOpen) return false;
      if (key === 'ArrowDown' || key === 'ArrowUp') {
        const by = key === 'ArrowDown' ? 1 : members.length - 1;
        setActive((at + by) % members.length);
      } else if (key === 'Enter' || key === 'Tab') take(members[at]);
      else if (key === 'Escape') close();
      else return false;
      return true;
    },
    close,
    mentionedIn: (sent) =>
      taken.filter(({ name }) => sent.includes(`@${name}`)).map(({ memberId }) => memberId),
    list: isOn && (
      <>
        {isOpen && (
          <ul id={id} role="listbox" aria-label={words.people} data-fanfare="people">
            {members.map((person, index) => (
              <li
                key={person.memberId}
                id={optionId(index)}
                role="option"
                aria-selected={index === at}
                // The text keeps the focus.
                onPointerDown={(event) => {
                  event.preventDefault();
                  take(person);
                }}
              >
                <Avatar id={person.memberId} name={person.name} src={person.imageUrl} />
                <bdi>{person.name}</bdi>
              </li>
            ))}
          </ul>
        )}
        {search !== null && (
          // Only while somebody is looked for: a list at rest has nothing that speaks.
          <span role="status" data-visually-hidden>
            {isOpen ? words.peopleFound(members.length) : ''}
          </span>
        )}
      </>
    ),
  };
}
