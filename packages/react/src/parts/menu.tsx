import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useItemActions } from '../hooks/item.ts';
import type { FanfareItem } from '../item.ts';
import { useWords } from '../provider.tsx';
import type { Undo } from '../store/undos.ts';
import { Popover } from './inbox.tsx';

interface MenuProps {
  readonly item: FanfareItem;
  /** The address that is copied; without it there is no such entry. */
  readonly link?: string;
  /** What is sent as the reason of a report. Default: those of `words.reasons`. */
  readonly reasons?: readonly string[];
  /** Absent: the `UndoToast` of the page has it. */
  readonly onUndo?: (undo: Undo) => void;
  readonly onError?: (error: unknown) => void;
  /** Further entries, as elements with the role menuitem. */
  readonly children?: (close: () => void) => ReactNode;
}

/**
 * A button with all else that a reader may do with an item: hide, archive, snooze, mute and block its author, report it, copy its
 * address. What has an inverse is offered to the `UndoToast`.
 */
export function ItemMenu(props: MenuProps): ReactNode {
  const words = useWords();
  const [said, setSaid] = useState('');
  return (
    <>
      <Popover
        {...{ label: words.more, buttonLabel: words.more, name: 'more', kind: 'menu' }}
        button={<Dots />}
        onToggle={(isOpen) => {
          if (isOpen) setSaid('');
        }}
      >
        {(close) => <Entries {...{ props, close, say: setSaid }} />}
      </Popover>
      <span role="status" data-fanfare="said">
        {said}
      </span>
    </>
  );
}

interface EntriesProps {
  readonly props: MenuProps;
  readonly close: () => void;
  readonly say: (text: string) => void;
}

function Entries({ props, close, say }: EntriesProps): ReactNode {
  const { item, link, onUndo, onError, children } = props;
  const words = useWords();
  const { hide, archive, snooze, mute, block, report } = useItemActions(item);
  const [isReporting, setReporting] = useState(false);
  const first = useRef<HTMLDivElement>(null);
  useEffect(() => {
    first.current?.querySelector<HTMLElement>('[role="menuitem"]')?.focus();
  }, [isReporting]);
  const fail = (error: unknown): void => onError?.(error);
  const entry = (label: string, run: () => Promise<Undo | undefined>): ReactNode => (
    <button
      key={label}
      type="button"
      role="menuitem"
      tabIndex={-1}
      onClick={() => {
        close();
        run().then((undo) => undo && onUndo?.(undo), fail);
      }}
    >
      {label}
    </button>
  );
  const { name } = item.action.actor;
  const reasonsOf: Readonly<Record<string, string>> = words.reasons;
  return (
    <div ref={first} data-fanfare="entries" role="none">
      {isReporting ? (
        (props.reasons ?? Object.keys(reasonsOf)).map((reason) =>
          entry(reasonsOf[reason] ?? reason, async () => {
            await report(reason);
            say(words.reported);
            return undefined;
          }),
        )
      ) : (
        <>
          {link !== undefined &&
            entry(words.menu.copyLink, async () => {
              await navigator.clipboard.writeText(new URL(link, location.href).href);
              return undefined;
            })}
          {entry(words.menu.hide, hide)}
          {entry(words.menu.archive, archive)}
          {entry(words.menu.snooze, () => snooze(tomorrow()))}
          {entry(words.muteAuthor(name), () => mute())}
          {entry(words.blockAuthor(name), block)}
          <button type="button" role="menuitem" tabIndex={-1} onClick={() => setReporting(true)}>
            {words.menu.report}
          </button>
          {children?.(close)}
        </>
      )}
    </div>
  );
}

/** At eight in the morning, where the reader is. */
function tomorrow(): Date {
  const at = new Date();
  at.setDate(at.getDate() + 1);
  at.setHours(8, 0, 0, 0);
  return at;
}

function Dots(): ReactNode {
  return (
    <svg width="18" height="18" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true">
      <circle cx="5" cy="12" r="2" />
      <circle cx="12" cy="12" r="2" />
      <circle cx="19" cy="12" r="2" />
    </svg>
  );
}
