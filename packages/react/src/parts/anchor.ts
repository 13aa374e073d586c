import { useEffect, useLayoutEffect, useRef, type RefObject } from 'react';
import type { FanfareItem } from '../item.ts';

const useBrowserLayoutEffect = typeof document === 'undefined' ? useEffect : useLayoutEffect;

interface Anchor {
  readonly id: string;
  readonly top: number;
}

/**
 * Keeps the first item in view where it is while items come and go above it. Browsers have `overflow-anchor` for that,
 * except Safari, so the list switches it off and this does it everywhere. At the very top new items move the rest down.
 */
export function useAnchor(list: RefObject<HTMLElement | null>, items: readonly FanfareItem[]): void {
  const anchor = useRef<Anchor | null>(null);
  useBrowserLayoutEffect(() => {
    const element = list.current;
    if (element === null) return;
    const scroller = scrollerOf(element);
    const kept = anchor.current;
    if (kept !== null && scroller.scrollTop > 0) {
      const article = element.querySelector(`[data-item="${CSS.escape(kept.id)}"]`);
      const by = article === null ? 0 : article.getBoundingClientRect().top - kept.top;
      if (Math.abs(by) >= 1) scroller.scrollTop += by;
    }
    anchor.current = firstInView(element, scroller);
  }, [list, items]);
  useEffect(() => {
    const element = list.current;
    if (element === null) return undefined;
    const look = (): void => {
      anchor.current = firstInView(element, scrollerOf(element));
    };
    // Scrolling does not bubble; what scrolls may be any ancestor.
    document.addEventListener('scroll', look, { capture: true, passive: true });
    return () => {
      document.removeEventListener('scroll', look, { capture: true });
    };
  }, [list]);
}

function scrollerOf(element: HTMLElement): Element {
  for (let parent = element.parentElement; parent !== null; parent = parent.parentElement) {
    const { overflowY } = getComputedStyle(parent);
    if ((overflowY === 'auto' || overflowY === 'scroll') && parent.scrollHeight > parent.clientHeight)
      return parent;
  }
  return document.scrollingElement ?? document.documentElement;
}

function firstInView(list: HTMLElement, scroller: Element): Anchor | null {
  const top = scroller === document.scrollingElement ? 0 : scroller.getBoundingClientRect().top;
  const articles = list.querySelectorAll<HTMLElement>(':scope > article');
  // Bottoms rise from one to the next, so the first below the edge is found by halving.
  let [from, to] = [0, articles.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((articles[middle]?.getBoundingClientRect().bottom ?? 0) > top) to = middle;
    else from = middle + 1;
  }
  const article = articles[from];
  const id = article?.dataset['item'];
  return article === undefined || id === undefined ? null : { id, top: article.getBoundingClientRect().top };
}
