import type { WatchState } from '@fanfare/client';
import type { LiveEvent, Watched } from './connection.ts';

/** Of the messages and of what items have: raise it with any change of either. Tabs of two releases do not share. */
export const PROTOCOL = 3;

/** What the tabs of a browser tell each other. The tab that is connected is the leader. */
export type TabMessage =
  /** To the leader, again and again: watch this for me, from where I am. */
  | {
      readonly kind: 'want';
      readonly tab: string;
      readonly topic: string;
      readonly watched: Watched;
      readonly cursor: string | undefined;
      /** What waits for its next attempt is tried at once. */
      readonly isNow: boolean;
    }
  | { readonly kind: 'leave'; readonly tab: string; readonly topic: string }
  | ({
      /** When its leadership began; what an earlier leader still says counts for nothing. */
      readonly term: number;
    } & LeaderMessage);

/** From the leader, to all. */
export type LeaderMessage = { readonly topic: string } &
  /** What comes from now on begins at this cursor. */
  (
    | {
        readonly kind: 'have';
        readonly cursor: string | undefined;
        readonly state: WatchState;
        readonly cause: string | undefined;
      }
    | { readonly kind: 'event'; readonly event: LiveEvent }
    | { readonly kind: 'resync'; readonly reason: string; readonly cursor: string }
    | { readonly kind: 'error'; readonly code: string; readonly message: string }
  );
