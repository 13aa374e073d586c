import { useEffect, useRef, type RefCallback } from 'react';
import { useLatest } from './latest.ts';

export interface InViewOptions {
  /** How long an item must be in view, in ms; default 1000. */
  readonly dwellMs?: number;
  /** How much of it, or of the view where it is larger; default 0.5. */
  readonly ratio?: number;
}

/** How long an item has been in view, in ms, as long as the page is seen; 0: it is not. */
export type InViewFor = (item: { readonly id: string }) => number;

/**
 * Watches which items of a list are in view. Give what it returns as `ref` to an element around the list.
 * @param onLook is called twice in `dwellMs` while the page is seen, with the time of the page in ms
 */
export function useInView(
  items: readonly unknown[],
  { dwellMs = 1_000, ratio = 0.5 }: InViewOptions,
  onLook: (inViewFor: InViewFor, now: number) => void,
): RefCallback<HTMLElement> {
  const element = useRef<HTMLElement | null>(null);
  const observe = useRef<() => void>(() => undefined);
  const latest = useLatest(onLook);
  const inView = useRef(new Map<string, number>());
  useEffect(() => {
    const seen = inView.current;
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, intersectionRatio, intersectionRect, rootBounds } of entries) {
          const id = (target as HTMLElement).dataset['item'] ?? '';
          const ofView = rootBounds === null ? 0 : intersectionRect.height / rootBounds.height;
          if (Math.max(intersectionRatio, ofView) < ratio) seen.delete(id);
          else if (!seen.has(id)) seen.set(id, performance.now());
        }
      },
      { threshold: [0, ratio / 2, ratio, 1] },
    );
    // What is observed already stays as it is.
    observe.current = () => {
      for (const item of element.current?.querySelectorAll('[data-item]') ?? []) observer.observe(item);
    };
    observe.current();
    return () => {
      observer.disconnect();
    };
  }, [items, ratio]);
  useEffect(() => {
    const timer = setInterval(() => {
      // A list that draws what is in view alone has others now than when its items came.
      observe.current();
      if (document.visibilityState !== 'visible') return;
      const now = performance.now();
      latest.current(({ id }) => Math.max(0, now - (inView.current.get(id) ?? Infinity)), now);
    }, dwellMs / 2);
    // What is in view when the page is seen again has been there only since then. The observer does not report it: for
    // it nothing has moved.
    const seenAgain = (): void => {
      for (const id of inView.current.keys()) inView.current.set(id, performance.now());
    };
    document.addEventListener('visibilitychange', seenAgain);
    return () => {
      document.removeEventListener('visibilitychange', seenAgain);
      clearInterval(timer);
    };
  }, [dwellMs]);
  return (given) => {
    element.current = given;
  };
}
