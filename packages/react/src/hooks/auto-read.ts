import { useEffect, useRef, type RefCallback } from 'react';
import type { FanfareItem } from '../item.ts';
import { useReader } from '../provider.tsx';
import type { Feed } from './feed.ts';

const MAX_MARKED = 100;

interface AutoReadOptions {
  /** How long an item must be in view, in ms; default 1000. */
  readonly dwellMs?: number;
  /** How much of it, or of the view where it is larger; default 0.5. */
  readonly ratio?: number;
  readonly onError?: (error: unknown) => void;
}

/**
 * Marks items as read that were in view for a while, as long as the page is seen. Give what it returns as `ref` to an
 * element around the list.
 */
export function useAutoRead(
  { items }: Pick<Feed, 'items'>,
  { dwellMs = 1_000, ratio = 0.5, onError }: AutoReadOptions = {},
): RefCallback<HTMLElement> {
  const reader = useReader();
  const element = useRef<HTMLElement | null>(null);
  const latest = useRef({ items, onError });
  const inView = useRef(new Map<string, number>());
  useEffect(() => {
    latest.current = { items, onError };
  });
  useEffect(() => {
    if (element.current === null) return undefined;
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
    for (const item of element.current.querySelectorAll('[data-item]')) observer.observe(item);
    return () => {
      observer.disconnect();
    };
  }, [items, ratio]);
  useEffect(() => {
    const asked = new Set<string>();
    const timer = setInterval(() => {
      if (document.visibilityState !== 'visible') return;
      const until = performance.now() - dwellMs;
      const isDue = ({ id, isUnread, relevancy }: FanfareItem): boolean =>
        isUnread && !asked.has(id + relevancy) && (inView.current.get(id) ?? Infinity) <= until;
      const due = latest.current.items.filter(isDue).slice(0, MAX_MARKED);
      // What could not be marked is not asked for again and again.
      for (const { id, relevancy } of due) asked.add(id + relevancy);
      reader.markItems(due, true).catch((error: unknown) => latest.current.onError?.(error));
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
  }, [reader, dwellMs]);
  return (given) => {
    element.current = given;
  };
}
