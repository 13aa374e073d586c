import { useEffect, useRef, type RefCallback } from 'react';
import type { FanfareItem } from '../item.ts';
import { useReader } from '../provider.tsx';
import type { Feed } from './feed.ts';
import { useInView, type InViewOptions } from './in-view.ts';

const MAX_MARKED = 100;
/** Waits after a mark that did not land, in ms. */
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 60_000;

/** A bump makes another one of it. */
const keyOf = ({ id, relevancy }: FanfareItem): string => id + relevancy;

interface AutoReadOptions extends InViewOptions {
  readonly onError?: (error: unknown) => void;
}

/**
 * Marks items as read that were in view for a while, as long as the page is seen. What the reader marks as unread again
 * stays so. Give what it returns as `ref` to an element around the list.
 */
export function useAutoRead(
  { items }: Pick<Feed, 'items'>,
  { onError, ...options }: AutoReadOptions = {},
): RefCallback<HTMLElement> {
  const reader = useReader();
  /** Those that have been read here. One that is unread again is so because the reader wants it to be. */
  const read = useRef(new Set<string>());
  const pause = useRef({ wait: FIRST_WAIT_MS, until: 0 });
  useEffect(() => {
    for (const item of items) if (!item.isUnread) read.current.add(keyOf(item));
  });
  useEffect(() => {
    pause.current = { wait: FIRST_WAIT_MS, until: 0 };
  }, [reader]);
  const mark = async (due: readonly FanfareItem[]): Promise<void> => {
    const known = read.current;
    for (const item of due) known.add(keyOf(item));
    try {
      await reader.markItems(due, true);
      pause.current.wait = FIRST_WAIT_MS;
    } catch (error) {
      for (const item of due) known.delete(keyOf(item));
      const { wait } = pause.current;
      pause.current = { wait: Math.min(LONGEST_WAIT_MS, wait * 2), until: performance.now() + wait };
      onError?.(error);
    }
  };
  const { dwellMs = 1_000 } = options;
  return useInView(items, options, (inViewFor, now) => {
    if (now < pause.current.until) return;
    const isDue = (item: FanfareItem): boolean =>
      item.isUnread && !read.current.has(keyOf(item)) && inViewFor(item) >= dwellMs;
    const due = items.filter(isDue).slice(0, MAX_MARKED);
    if (due.length > 0) void mark(due);
  });
}
