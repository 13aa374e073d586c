import { hostOf, rootOf } from './roots.ts';

const FOCUSABLE =
  'a[href], summary, button:not([disabled]), input, select, textarea, [tabindex]:not([tabindex="-1"])';

/** Bits of Node.compareDocumentPosition. */
const PRECEDING = 2;
const FOLLOWING = 4;

/** Takes the focus to what is nearest before or behind a list: for one that is drawn by hand. */
export function focusOutside(list: HTMLElement, where: 'before' | 'after'): void {
  const outside = [...rootOf(list).querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
    (element) => !list.contains(element) && element.getClientRects().length > 0,
  );
  const side = where === 'before' ? PRECEDING : FOLLOWING;
  const there = outside.filter((element) => (list.compareDocumentPosition(element) & side) !== 0);
  const nearest = where === 'before' ? there.at(-1) : there[0];
  const host = hostOf(list);
  // What is beside it may be outside of its shadow root.
  if (nearest === undefined && host !== undefined) focusOutside(host, where);
  nearest?.focus();
}

/** Of a button that goes when it has been pressed by a key: what is before it gets the focus. */
export function leaveBefore(button: HTMLElement): void {
  if (button.matches(':focus-visible')) focusOutside(button.closest<HTMLElement>('li') ?? button, 'before');
}
