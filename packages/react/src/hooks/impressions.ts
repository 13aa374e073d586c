import { useEffect, useRef, type RefCallback } from 'react';
import { useReader } from '../provider.tsx';
import type { Feed } from './feed.ts';
import { useInView, type InViewOptions } from './in-view.ts';

const MAX_SENT = 100;
const EVERY_MS = 10_000;
const HOUR_MS = 3_600_000;

interface ImpressionOptions extends InViewOptions {
  /** The view of the server's configuration that the list shows; absent: it is none. */
  readonly view?: string;
}

/**
 * Records what the reader was shown, for a server with `IMPRESSIONS=on`: items that were in view for a while, each once in an hour.
 * Sends them every ten seconds, and when the page is hidden or left. Give what it returns as `ref` to an element around the list.
 */
export function useImpressions(
  { items }: Pick<Feed, 'items'>,
  { view, ...options }: ImpressionOptions = {},
): RefCallback<HTMLElement> {
  const { client } = useReader();
  /** For how long each action was in view when it was last looked at, of those that are to be sent. */
  const due = useRef(new Map<string, number>());
  /** Until when each was sent. */
  const until = useRef(new Map<string, number>());
  useEffect(() => {
    const [waiting, sent] = [due.current, until.current];
    const send = (): void => {
      const impressions = [...waiting].slice(0, MAX_SENT).map(([actionId, ms]) => {
        waiting.delete(actionId);
        return { actionId, ms: Math.round(ms), ...(view && { view }) };
      });
      if (impressions.length > 0)
        client.mutations.recordImpressions({ impressions }).catch(() => {
          // What is in view then is sent once more.
          for (const { actionId } of impressions) sent.delete(actionId);
        });
    };
    const timer = setInterval(send, EVERY_MS);
    document.addEventListener('visibilitychange', send);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', send);
      send();
      sent.clear();
    };
  }, [client, view]);
  return useInView(items, options, (inViewFor, now) => {
    for (const { id, action } of items) {
      const ms = inViewFor({ id });
      if (ms < (options.dwellMs ?? 1_000)) continue;
      if (!due.current.has(action.id) && now < (until.current.get(action.id) ?? 0)) continue;
      due.current.set(action.id, ms);
      until.current.set(action.id, now + HOUR_MS);
    }
  });
}
