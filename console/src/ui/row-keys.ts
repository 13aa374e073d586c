import { useEffect, type KeyboardEvent as ReactKeyboardEvent } from 'react';

/** What letters are typed into, and what is over the page and has keys of its own. */
const NOT_HERE =
  'input:not([type="checkbox"]), textarea, select, [role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]';

/** A letter that is meant as a command, in lower case; else empty. */
export function letterOf(event: KeyboardEvent | ReactKeyboardEvent): string {
  const { key, ctrlKey, metaKey, altKey, target } = event;
  if (ctrlKey || metaKey || altKey || key.length > 1) return '';
  return target instanceof Element && target.closest(NOT_HERE) === null ? key.toLowerCase() : '';
}

/**
 * J and K go to the next and the last row: to its box, or else to the row. What changes something is for the row itself to hear,
 * so that nobody does it who is elsewhere and only speaks or types.
 * @param rows selects them, in the main part of the page
 */
export function useRowKeys(rows: string): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const step = { j: 1, k: -1 }[letterOf(event)];
      const all = [...document.querySelectorAll<HTMLElement>(`main ${rows}`)];
      if (step === undefined || all.length === 0) return;
      const at = all.findIndex((row) => row.contains(document.activeElement));
      const row = all[Math.min(Math.max(at + step, 0), all.length - 1)];
      (row?.querySelector<HTMLElement>('input[type="checkbox"]') ?? row)?.focus();
    };
    document.addEventListener('keydown', onKey);
    return () => {
      document.removeEventListener('keydown', onKey);
    };
  }, [rows]);
}
