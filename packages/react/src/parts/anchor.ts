import { useEffect, useLayoutEffect, useRef, type RefObject } from 'react';

export const useBrowserLayoutEffect = typeof document === 'undefined' ? useEffect : useLayoutEffect;

interface Anchor {
  readonly id: string;
  readonly top: number;
  /** Of what scrolls, when it was there or was brought back there. */
  at: number;
}

/**
 * Keeps the first item in view where it is while items come and go above it. Browsers have `overflow-anchor` for that,
 * except Safari, so the list switches it off and this does it everywhere. At the very top new items move the rest down.
 */
export function useAnchor(
  list: RefObject<HTMLElement | null>,
  items: readonly { readonly id: string }[],
): void {
  const anchor = useRef<Anchor | null>(null);
  const look = (): void => {
    const element = list.current;
    if (element === null) return;
    const scroller = scrollerOf(element);
    // Where it has scrolled on its own the place is still the one the reader has chosen: scrolling goes by whole pixels, and
    // what is rounded each time would add up.
    if (anchor.current?.at !== scroller.scrollTop) anchor.current = firstInView(element, scroller);
  };
  const keep = (): void => {
    const kept = anchor.current;
    const element = list.current;
    const article = element?.querySelector(`[data-item="${CSS.escape(kept?.id ?? '')}"]`);
    const scroller = article && scrollerOf(article);
    if (kept === null || element === null || !article || !scroller?.scrollTop) {
      anchor.current = null;
      look();
      return;
    }
    const scrolled = scrolledSince(kept.at, scroller);
    const by = article.getBoundingClientRect().top - (kept.top - scrolled);
    if (Math.abs(by) >= 1) scroller.scrollTop += by;
    if (scrolled !== 0) anchor.current = firstInView(element, scroller);
    else if (Math.abs(by) >= 1) kept.at = scroller.scrollTop;
  };
  useBrowserLayoutEffect(keep, [list, items]);
  useEffect(() => {
    if (list.current === null) return undefined;
    // Items take their size as they come near the view, which is after they were placed by a guess; pictures, too.
    const observer = new ResizeObserver(keep);
    observer.observe(list.current);
    // Scrolling does not bubble; what scrolls may be any ancestor.
    document.addEventListener('scroll', look, { capture: true, passive: true });
    return () => {
      observer.disconnect();
      document.removeEventListener('scroll', look, { capture: true });
    };
  }, [list]);
}

function scrollerOf(element: Element): Element {
  for (let parent = element.parentElement; parent !== null; parent = parent.parentElement) {
    const { overflowY } = getComputedStyle(parent);
    if ((overflowY === 'auto' || overflowY === 'scroll') && parent.scrollHeight > parent.clientHeight)
      return parent;
  }
  return document.scrollingElement ?? document.documentElement;
}

/** By a script, of which the event is still to come. What scrolls also goes back on its own when it becomes shorter. */
function scrolledSince(at: number, { scrollTop, scrollHeight, clientHeight }: Element): number {
  const isAtEnd = scrollTop >= scrollHeight - clientHeight - 1;
  return isAtEnd && scrollTop < at ? 0 : scrollTop - at;
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
  return article === undefined || id === undefined
    ? null
    : { id, top: article.getBoundingClientRect().top, at: scroller.scrollTop };
}
