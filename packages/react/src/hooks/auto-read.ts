import { useEffect, useRef, type RefCallback } from 'react';
import type { FanfareItem } from '../item.ts';
import { useReader } from '../provider.tsx';
import type { Feed } from './feed.ts';

const MAX_MARKED = 100;
/** Waits after a mark that did not land, in ms. */
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 60_000;

/** A bump makes another one of it. */
const keyOf = ({ id, relevancy }: FanfareItem): string => id + relevancy;

interface AutoReadOptions {
  /** How long an item must be in view, in ms; default 1000. */
  readonly dwellMs?: number;
  /** How much of it, or of the view where it is larger; default 0.5. */
  readonly ratio?: number;
  readonly onError?: (error: unknown) => void;
}

/**
 * Marks items as read that were in view for a while, as long as the page is seen. What the reader marks as unread again
 * stays so. Give what it returns as `ref` to an element around the list.
 */
export function useAutoRead(
  { items }: Pick<Feed, 'items'>,
  { dwellMs = 1_000, ratio = 0.5, onError }: AutoReadOptions = {},
): RefCallback<HTMLElement> {
  const reader = useReader();
  const element = useRef<HTMLElement | null>(null);
  const observe = useRef<() => void>(() => undefined);
  const latest = useRef({ items, onError });
  const inView = useRef(new Map<string, number>());
  /** Those that have been read here. One that is unread again is so because the reader wants it to be. */
  const read = useRef(new Set<string>());
  useEffect(() => {
    latest.current = { items, onError };
    for (const item of items) if (!item.isUnread) read.current.add(keyOf(item));
  });
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
    const known = read.current;
    let [wait, resumesAt] = [FIRST_WAIT_MS, 0];
    const mark = async (items: readonly FanfareItem[]): Promise<void> => {
      for (const item of items) known.add(keyOf(item));
      try {
        await reader.markItems(items, true);
        wait = FIRST_WAIT_MS;
      } catch (error) {
        for (const item of items) known.delete(keyOf(item));
        resumesAt = performance.now() + wait;
        wait = Math.min(LONGEST_WAIT_MS, wait * 2);
        latest.current.onError?.(error);
      }
    };
    const timer = setInterval(() => {
      const now = performance.now();
      // A list that draws what is in view alone has others now than when its items came.
      observe.current();
      if (document.visibilityState !== 'visible' || now < resumesAt) return;
      const isDue = (item: FanfareItem): boolean =>
        item.isUnread &&
        !known.has(keyOf(item)) &&
        (inView.current.get(item.id) ?? Infinity) <= now - dwellMs;
      const due = latest.current.items.filter(isDue).slice(0, MAX_MARKED);
      if (due.length > 0) void mark(due);
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
