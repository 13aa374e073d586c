import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useItemActions } from '../hooks/item.ts';
import type { FanfareItem } from '../item.ts';
import { useWords } from '../hooks/words.ts';
import type { Undo } from '../store/undos.ts';
import { Icon } from './icon.tsx';
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
  /** Null until it is opened: a list at rest has nothing that speaks. */
  const [said, setSaid] = useState<string | null>(null);
  return (
    <>
      <Popover
        {...{ label: words.more, buttonLabel: words.more, name: 'more', kind: 'menu' }}
        button={<Icon of="more" />}
        onToggle={(isOpen) => {
          if (isOpen) setSaid('');
        }}
      >
        {(close) => <Entries {...{ props, close, say: setSaid }} />}
      </Popover>
      {said !== null && (
        <span role="status" data-fanfare="said">
          {said}
        </span>
      )}
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
  const { hide, archive, unarchive, snooze, mute, block, report } = useItemActions(item);
  const [isReporting, setReporting] = useState(false);
  const undone = (run: () => Promise<Undo>) => async (): Promise<void> => {
    const undo = await run();
    onUndo?.(undo);
  };
  const { name } = item.action.actor;
  const reasonsOf: Readonly<Record<string, string>> = words.reasons;
  const reasons = (props.reasons ?? Object.keys(reasonsOf)).map((reason) => ({
    label: reasonsOf[reason] ?? reason,
    run: async () => {
      await report(reason);
      say(words.reported);
    },
  }));
  if (isReporting) return <MenuEntries key="reasons" {...{ close, onError, entries: reasons }} />;
  const copyLink = {
    label: words.menu.copyLink,
    run: () => navigator.clipboard.writeText(new URL(link ?? '', location.href).href),
  };
  const entries = [
    ...(link === undefined ? [] : [copyLink]),
    { label: words.menu.hide, run: undone(hide) },
    item.isArchived
      ? { label: words.menu.unarchive, run: undone(unarchive) }
      : { label: words.menu.archive, run: undone(archive) },
    { label: words.menu.snooze, run: undone(() => snooze(tomorrow())) },
    { label: words.muteAuthor(name), run: undone(() => mute()) },
    { label: words.blockAuthor(name), run: undone(block) },
  ];
  return (
    <MenuEntries {...{ close, onError, entries }}>
      <button type="button" role="menuitem" tabIndex={-1} onClick={() => setReporting(true)}>
        {words.menu.report}
      </button>
      {children?.(close)}
    </MenuEntries>
  );
}

export interface MenuEntry {
  readonly label: string;
  readonly run: () => unknown;
}

interface MenuEntriesProps {
  readonly entries: readonly MenuEntry[];
  readonly close: () => void;
  readonly onError: ((error: unknown) => void) | undefined;
  readonly children?: ReactNode;
}

/** Of a menu that has just been opened: the first has the focus. */
export function MenuEntries({ entries, close, onError, children }: MenuEntriesProps): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector<HTMLElement>('[role="menuitem"]')?.focus();
  }, []);
  return (
    <div ref={list} data-fanfare="entries" role="none">
      {entries.map(({ label, run }) => (
        <button
          key={label}
          type="button"
          role="menuitem"
          tabIndex={-1}
          onClick={() => {
            close();
            Promise.resolve(run()).catch((error: unknown) => onError?.(error));
          }}
        >
          {label}
        </button>
      ))}
      {children}
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
