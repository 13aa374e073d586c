import { Fragment, useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { UnreadBadge } from './frame.tsx';
import { useLatest } from '../hooks/latest.ts';
import { rootOf } from './roots.ts';

interface PopoverProps {
  /** Of what it opens. */
  readonly label: string;
  /** Of the button, if its content does not say it. */
  readonly buttonLabel?: string;
  /** `data-fanfare` of the button. */
  readonly name: string;
  readonly button: ReactNode;
  readonly onToggle?: (isOpen: boolean) => void;
  /** What it opens; default `dialog`. */
  readonly kind?: 'dialog' | 'menu';
  /** Rendered while it is open. */
  readonly children: (close: () => void) => ReactNode;
}

/**
 * A button that opens a panel below it. Escape and a click elsewhere close it. After Escape the focus is back on the button.
 */
export function Popover({
  label,
  buttonLabel,
  name,
  button,
  onToggle,
  kind = 'dialog',
  children,
}: PopoverProps): ReactNode {
  const opener = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  /** How often it was opened, or 0 while it is closed. The events of a panel that is closed and opened at once are one. */
  const [opening, setOpening] = useState(0);
  const times = useRef(0);
  const isOpen = opening > 0;
  const id = useId();
  const toggled = useLatest(onToggle);
  useEffect(() => {
    const [from, element] = [opener.current, panel.current];
    if (from === null || element === null) return undefined;
    let sized: ResizeObserver | undefined;
    // Whenever it has another size, and before it is drawn: it would be out of the page in part below a button at the left, and
    // below one at the bottom.
    const fit = (): void => {
      const { left, bottom, height } = element.getBoundingClientRect();
      if (left < 8) element.style.right = `${String(parseFloat(element.style.right) + left - 8)}px`;
      if (bottom > innerHeight - 8) element.style.top = `${String(Math.max(8, innerHeight - 8 - height))}px`;
    };
    const place = (isToOpen: boolean): void => {
      sized?.disconnect();
      if (!isToOpen) return;
      const { bottom, right } = from.getBoundingClientRect();
      element.style.top = `${String(bottom + 4)}px`;
      element.style.right = `${String(Math.max(8, document.documentElement.clientWidth - right))}px`;
      sized = new ResizeObserver(fit);
      sized.observe(element);
    };
    const toggle = (isNowOpen: boolean): void => {
      if (isNowOpen) times.current += 1;
      setOpening(isNowOpen ? times.current : 0);
      toggled.current?.(isNowOpen);
    };
    const end = new AbortController();
    const { signal } = end;
    ('showPopover' in element ? ofBrowser : byHand)({ from, element, place, toggle, on: { signal } });
    return () => {
      sized?.disconnect();
      end.abort();
    };
  }, [id]);
  return (
    <>
      <button
        ref={opener}
        type="button"
        data-fanfare={name}
        aria-label={buttonLabel}
        aria-haspopup={kind}
        aria-expanded={isOpen}
        aria-controls={id}
      >
        {button}
      </button>
      <div
        ref={panel}
        {...{ id, role: kind, popover: 'auto' }}
        aria-label={label}
        data-fanfare={kind === 'menu' ? 'menu' : 'inbox'}
        onKeyDown={(event) => {
          if (kind === 'menu' && moveInMenu(event.currentTarget, event.key)) event.preventDefault();
        }}
      >
        {isOpen && (
          <Fragment key={opening}>{children(() => panel.current?.dispatchEvent(new Event(CLOSE)))}</Fragment>
        )}
      </div>
    </>
  );
}

/** The keys of a menu of ARIA. @returns whether it was one of them */
function moveInMenu(menu: HTMLElement, key: string): boolean {
  const entries = [...menu.querySelectorAll<HTMLElement>('[role="menuitem"]')];
  const at = entries.indexOf(rootOf(menu).activeElement as HTMLElement);
  const { length } = entries;
  const next: Readonly<Record<string, number>> = {
    ...{
      ArrowDown: (at + 1) % length,
      ArrowUp: (Math.max(at, 0) + length - 1) % length,
      Home: 0,
      End: length - 1,
    },
  };
  entries[next[key] ?? -1]?.focus();
  return key in next;
}

/** Asks a panel to close. */
const CLOSE = 'fanfare-close';

interface Panel {
  readonly from: HTMLElement;
  readonly element: HTMLElement;
  /** Before it opens or closes. */
  readonly place: (isToOpen: boolean) => void;
  /** After that. */
  readonly toggle: (isNowOpen: boolean) => void;
  /** Ends all listeners. */
  readonly on: { readonly signal: AbortSignal };
}

/** Above all else in the page. */
function ofBrowser({ from, element, place, toggle, on }: Panel): void {
  // Neither the attribute nor the events are known to React 18. With it a click on the button of what is open closes it.
  from.setAttribute('popovertarget', element.id);
  const isToOpen = (event: Event): boolean => (event as ToggleEvent).newState === 'open';
  element.addEventListener('beforetoggle', (event) => place(isToOpen(event)), on);
  element.addEventListener('toggle', (event) => toggle(isToOpen(event)), on);
  element.addEventListener(CLOSE, () => element.hidePopover(), on);
}

/** In browsers that have no popover. */
function byHand({ from, element, place, toggle, on }: Panel): void {
  const isOpen = (): boolean => element.hidden === false;
  const set = (isToOpen: boolean): void => {
    if (isOpen() === isToOpen) return;
    element.hidden = !isToOpen;
    place(isToOpen);
    toggle(isToOpen);
  };
  element.hidden = true;
  const close = (): void => set(false);
  const escape = ({ key }: KeyboardEvent): void => {
    if (key !== 'Escape' || !isOpen()) return;
    close();
    from.focus();
  };
  const point = (event: Event): void => {
    // In a shadow root `target` is what holds it.
    const [target] = event.composedPath();
    if (target instanceof Node && !element.contains(target) && !from.contains(target)) close();
  };
  from.addEventListener('click', () => set(!isOpen()), on);
  element.addEventListener(CLOSE, close, on);
  document.addEventListener('keydown', escape, on);
  document.addEventListener('pointerdown', point, on);
}

interface InboxProps {
  /** Of the button and of what it opens. */
  readonly label: string;
  /** Rendered while it is open, such as a whole `<Feed.Root>`. */
  readonly children: (close: () => void) => ReactNode;
}

/** A button with the unread count that opens a panel below it. */
export function InboxPopover({ label, children }: InboxProps): ReactNode {
  const button = (
    <>
      {label} <UnreadBadge />
    </>
  );
  return (
    <Popover name="inbox-button" label={label} button={button}>
      {children}
    </Popover>
  );
}
