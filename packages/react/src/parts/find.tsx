import { useEffect, useId, useState, type ReactNode } from 'react';
import { useWords } from '../hooks/words.ts';
import { useLatest } from '../hooks/latest.ts';
import { useShared } from './feed.tsx';

/** As much as the server takes. */
const LONGEST = 100;
/** After the last key, in ms. */
const WAIT_MS = 300;

export interface FindProps {
  /** Called with the words to look for, for `filter.text` of the list; undefined: nothing is looked for. */
  readonly onFind: (text: string | undefined) => void;
}

/**
 * A box above a list: what is typed is looked for after a moment, and with Enter at once. It says how many were found if the list has
 * its total counted, and when older entries were not looked at.
 */
export function Find({ onFind }: FindProps): ReactNode {
  const words = useWords();
  const { feed, listId } = useShared();
  const id = useId();
  const [text, setText] = useState('');
  const [sought, setSought] = useState<string>();
  const latest = useLatest(onFind);
  // Of a text without a word there is nothing to find.
  const wanted = /[\p{L}\p{N}]/u.test(text) ? text.trim() : undefined;
  const find = (): void => {
    if (wanted === sought) return;
    setSought(wanted);
    latest.current(wanted);
  };
  useEffect(() => {
    const timer = setTimeout(find, wanted === undefined ? 0 : WAIT_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [wanted, sought]);
  const { total, status } = feed;
  const isFound = sought !== undefined && status === 'ready' && total != null;
  return (
    <form
      role="search"
      data-fanfare="find"
      onSubmit={(event) => {
        event.preventDefault();
        find();
      }}
    >
      <label htmlFor={id} data-visually-hidden>
        {words.find}
      </label>
      <input
        id={id}
        type="search"
        dir="auto"
        maxLength={LONGEST}
        placeholder={words.find}
        aria-controls={listId}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <span role="status">{isFound ? words.found(total.count, total.isExact) : ''}</span>
    </form>
  );
}
