import type { FeedEvent, FeedFilter, WatchState } from '@fanfare/client';
import type { FanfareItem } from '../item.ts';

/** What the tabs of a browser tell each other. The tab that is connected is the leader. */
export type TabMessage =
  /** To all: this tab leads from now on; say what you want. */
  | { readonly kind: 'leader' }
  /** To the leader: watch this for me, from where I am. */
  | {
      readonly kind: 'want';
      readonly tab: string;
      readonly topic: string;
      readonly filter: FeedFilter | undefined;
      readonly cursor: string | undefined;
    }
  | { readonly kind: 'leave'; readonly tab: string; readonly topic: string }
  /** From the leader, to one: what comes from now on begins at this cursor. */
  | {
      readonly kind: 'have';
      readonly tab: string;
      readonly topic: string;
      readonly cursor: string | undefined;
      readonly state: WatchState;
    }
  | { readonly kind: 'event'; readonly topic: string; readonly event: FeedEvent<FanfareItem> }
  | { readonly kind: 'resync'; readonly topic: string; readonly reason: string; readonly cursor: string }
  | { readonly kind: 'state'; readonly topic: string; readonly state: WatchState; readonly cause?: string }
  | { readonly kind: 'error'; readonly topic: string; readonly code: string; readonly message: string };

/** A name for channels and locks that does not show the token it is made of (as FNV-1a does it, twice). */
export function hashOf(text: string): string {
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (let at = 0; at < text.length; at += 1) {
    a = Math.imul(a ^ text.charCodeAt(at), 0x01000193);
    b = Math.imul(b ^ a, 0x85ebca6b);
  }
  return a.toString(36) + b.toString(36);
}
