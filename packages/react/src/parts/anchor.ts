import { useEffect, useLayoutEffect, type RefObject } from 'react';
import { parentOf, rootOf } from './roots.ts';

export const useBrowserLayoutEffect = typeof document === 'undefined' ? useEffect : useLayoutEffect;

interface Anchor {
  readonly list: HTMLElement;
  readonly id: string;
  readonly top: number;
  /** Whether what comes above the uppermost is its list's page above, and not new. */
  readonly hasMoreAbove: boolean;
  /** Of what scrolls, when it was there or was brought back there. */
  at: number;
}

/** One for all lists that scroll together: each for itself would take back what another has put right. */
const anchors = new WeakMap<HTMLElement, Anchor>();

/** Those that are shown: no query finds what is in shadow roots. */
const lists = new Set<HTMLElement>();

/**
 * Keeps the first item in view where it is while items come and go above it. Browsers have `overflow-anchor` for that,
 * except Safari, so this switches it off while there is such an item and does it everywhere. At the very top new items move the rest down, but not
 * the page above that is loaded there.
 */
export function useAnchor(
  list: RefObject<HTMLElement | null>,
  items: readonly { readonly id: string }[],
): void {
  useBrowserLayoutEffect(() => {
    if (list.current !== null) keep(list.current);
  }, [list, items]);
  useEffect(() => {
    const element = list.current;
    if (element === null) return undefined;
    // Items take their size as they come near the view, which is after they were placed by a guess; pictures, too.
    const observer = new ResizeObserver(() => {
      keep(element);
    });
    // What stands above the list grows as well, such as by a notice: then all that is around both does.
    const end = scrollerOf(element);
    for (let one: HTMLElement | undefined = element; one && one !== end; one = parentOf(one))
      observer.observe(one);
    // Where it has scrolled on its own the place is still the one the reader has chosen: scrolling goes by whole pixels, and
    // what is rounded each time would add up.
    let scroller = scrollerOf(element);
    const look = (): void => {
      scroller = scrollerOf(element);
      if (anchors.get(scroller)?.at !== scroller.scrollTop) setAnchor(scroller);
    };
    // Scrolling does not bubble; what scrolls may be any ancestor.
    // What scrolls in a shadow root says so there alone.
    const roots = [document, rootOf(element)];
    for (const root of roots) root.addEventListener('scroll', look, { capture: true, passive: true });
    return () => {
      observer.disconnect();
      lists.delete(element);
      for (const root of roots) root.removeEventListener('scroll', look, { capture: true });
      setAnchor(scroller);
    };
  }, [list]);
}

/** Of a list that changed. */
function keep(list: HTMLElement): void {
  lists.add(list);
  const scroller = scrollerOf(list);
  const kept = anchors.get(scroller);
  const article = kept?.list.querySelector(`[data-item="${CSS.escape(kept.id)}"]`);
  if (!kept || !article || (scroller.scrollTop === 0 && !kept.hasMoreAbove)) {
    setAnchor(scroller);
    return;
  }
  const scrolled = scrolledSince(kept.at, scroller);
  const by = article.getBoundingClientRect().top - (kept.top - scrolled);
  if (Math.abs(by) >= 1) scroller.scrollTop += by;
  if (scrolled !== 0) setAnchor(scroller);
  else if (Math.abs(by) >= 1) kept.at = scroller.scrollTop;
}

function scrollerOf(element: Element): HTMLElement {
  for (let parent = parentOf(element); parent !== undefined; parent = parentOf(parent)) {
    const { overflowY } = getComputedStyle(parent);
    if ((overflowY === 'auto' || overflowY === 'scroll') && parent.scrollHeight > parent.clientHeight)
      return parent;
  }
  const { scrollingElement, documentElement } = document;
  return scrollingElement instanceof HTMLElement ? scrollingElement : documentElement;
}

/** By a script, of which the event is still to come. What scrolls also goes back on its own when it becomes shorter. */
function scrolledSince(at: number, { scrollTop, scrollHeight, clientHeight }: Element): number {
  const isAtEnd = scrollTop >= scrollHeight - clientHeight - 1;
  return isAtEnd && scrollTop < at ? 0 : scrollTop - at;
}

/** The first item in view, of all lists in what scrolls. */
function setAnchor(scroller: HTMLElement): void {
  const isPage = scroller === document.scrollingElement;
  const edge = isPage ? 0 : scroller.getBoundingClientRect().top;
  let uppermost: Anchor | undefined;
  for (const list of lists) {
    if (scrollerOf(list) !== scroller) continue;
    const article = firstBelow(edge, list);
    const id = article?.dataset['item'];
    const top = article?.getBoundingClientRect().top ?? Infinity;
    if (id === undefined || top >= Math.min(edge + scroller.clientHeight, uppermost?.top ?? Infinity))
      continue;
    uppermost = {
      list,
      id,
      top,
      hasMoreAbove: list.dataset['moreAbove'] !== undefined,
      at: scroller.scrollTop,
    };
  }
  if (uppermost === undefined) anchors.delete(scroller);
  else anchors.set(scroller, uppermost);
  scroller.style.overflowAnchor = uppermost === undefined ? '' : 'none';
}

function firstBelow(edge: number, list: HTMLElement): HTMLElement | undefined {
  const articles = list.querySelectorAll<HTMLElement>(':scope > article');
  // Bottoms rise from one to the next, so the first below the edge is found by halving.
  let [from, to] = [0, articles.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((articles[middle]?.getBoundingClientRect().bottom ?? 0) > edge) to = middle;
    else from = middle + 1;
  }
  return articles[from];
}
