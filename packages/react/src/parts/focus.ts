import { useEffect, useRef, type KeyboardEvent, type RefObject } from 'react';
import { useBrowserLayoutEffect } from './anchor.ts';
import { focusOutside } from './focus-outside.ts';

export function articlesOf(list: Element): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>(':scope > article')];
}

function articleOf(target: EventTarget | null): HTMLElement | null {
  return (target as Element).closest('article');
}

/** The keys of the feed pattern of ARIA. @returns whether it was one of them */
export function moveFocus(
  list: HTMLElement,
  { key, ctrlKey, target }: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'target'>,
): boolean {
  // Where one writes they are keys of the text; and what an item opens elsewhere in the page is none of the list.
  const element = target as Element;
  if (!list.contains(element) || element.matches('input, select, textarea, [contenteditable]')) return false;
  const articles: (HTMLElement | null)[] = articlesOf(list);
  const at = articles.indexOf(articleOf(element));
  if (key === 'PageDown' || key === 'PageUp') {
    articles[Math.max(0, at + (key === 'PageDown' ? 1 : -1))]?.focus();
    return true;
  }
  if (!ctrlKey || (key !== 'Home' && key !== 'End')) return false;
  focusOutside(list, key === 'Home' ? 'before' : 'after');
  return true;
}

/** When the item that has the focus goes, the next one gets it. */
export function useKeptFocus(
  list: RefObject<HTMLElement | null>,
  items: readonly { readonly id: string }[],
): void {
  const last = useRef<{ id: string; at: number } | null>(null);
  useBrowserLayoutEffect(() => {
    const held = last.current;
    const element = list.current;
    if (held === null || element === null || items.some(({ id }) => id === held.id)) return;
    last.current = null;
    if (document.activeElement !== document.body && document.activeElement !== null) return;
    const articles = articlesOf(element);
    articles[Math.min(held.at, articles.length - 1)]?.focus();
  }, [list, items]);
  useEffect(() => {
    const element = list.current;
    if (element === null) return undefined;
    const take = ({ target }: FocusEvent): void => {
      const article = articleOf(target);
      const id = article?.dataset['item'];
      if (article === null || id === undefined) return;
      last.current = { id, at: articlesOf(element).indexOf(article) };
    };
    // An element that is removed says nothing when it loses the focus; one that is left does.
    const leave = ({ target, relatedTarget }: FocusEvent): void => {
      if (relatedTarget !== null) last.current = null;
      else
        setTimeout(() => {
          // By a click beside all that can have it. It stays with an element that loses it with the whole window.
          if ((target as Node).isConnected && document.activeElement === document.body) last.current = null;
        });
    };
    element.addEventListener('focusin', take);
    element.addEventListener('focusout', leave);
    return () => {
      element.removeEventListener('focusin', take);
      element.removeEventListener('focusout', leave);
    };
  }, [list]);
}
