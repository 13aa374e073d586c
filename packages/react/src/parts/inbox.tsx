import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { UnreadBadge } from './frame.tsx';

interface PopoverProps {
  /** Of what it opens. */
  readonly label: string;
  /** Of the button, if its content does not say it. */
  readonly buttonLabel?: string;
  /** `data-fanfare` of the button. */
  readonly name: string;
  readonly button: ReactNode;
  readonly onToggle?: (isOpen: boolean) => void;
  /** Rendered while it is open. */
  readonly children: (close: () => void) => ReactNode;
}

/**
 * A button that opens a panel below it. The browser closes it with Escape and a click elsewhere. After Escape the focus is back on the button.
 */
export function Popover({ label, buttonLabel, name, button, onToggle, children }: PopoverProps): ReactNode {
  const opener = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const toggled = useRef(onToggle);
  useEffect(() => {
    toggled.current = onToggle;
  });
  useEffect(() => {
    const [from, element] = [opener.current, panel.current];
    if (from === null || element === null) return undefined;
    // Neither the attribute nor the events are known to React 18. With it a click on the button of what is open closes it.
    from.setAttribute('popovertarget', id);
    let sized: ResizeObserver | undefined;
    // Whenever it has another size, and before it is drawn: it would be out of the page in part below a button at the left, and
    // below one at the bottom.
    const fit = (): void => {
      const { left, bottom, height } = element.getBoundingClientRect();
      if (left < 8) element.style.right = `${String(parseFloat(element.style.right) + left - 8)}px`;
      if (bottom > innerHeight - 8) element.style.top = `${String(Math.max(8, innerHeight - 8 - height))}px`;
    };
    const place = (event: Event): void => {
      sized?.disconnect();
      if ((event as ToggleEvent).newState !== 'open') return;
      const { bottom, right } = from.getBoundingClientRect();
      element.style.top = `${String(bottom + 4)}px`;
      element.style.right = `${String(Math.max(8, document.documentElement.clientWidth - right))}px`;
      sized = new ResizeObserver(fit);
      sized.observe(element);
    };
    const toggle = (event: Event): void => {
      const isNowOpen = (event as ToggleEvent).newState === 'open';
      setOpen(isNowOpen);
      toggled.current?.(isNowOpen);
    };
    element.addEventListener('beforetoggle', place);
    element.addEventListener('toggle', toggle);
    return () => {
      sized?.disconnect();
      element.removeEventListener('beforetoggle', place);
      element.removeEventListener('toggle', toggle);
    };
  }, [id]);
  return (
    <>
      <button
        ref={opener}
        type="button"
        data-fanfare={name}
        aria-label={buttonLabel}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        aria-controls={id}
      >
        {button}
      </button>
      <div ref={panel} id={id} role="dialog" aria-label={label} data-fanfare="inbox" {...{ popover: 'auto' }}>
        {isOpen && children(() => panel.current?.hidePopover())}
      </div>
    </>
  );
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
