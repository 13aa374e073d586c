import { useMemo } from 'react';
import type { FanfareItem } from '../item.ts';
import { useReader } from '../provider.tsx';
import { bookmark, interact } from '../store/engaging.ts';
import { hasGiven } from '../store/writes.ts';
import { useFeedAction } from './feed.ts';

/** Likes, reshares and reactions of an action: shown at once, taken back when they fail. */
export function useEngagement(actionId: string): {
  readonly like: () => Promise<void>;
  readonly unlike: () => Promise<void>;
  /** Gives the reaction, or takes it back. */
  readonly toggleReaction: (reaction: string) => Promise<void>;
  readonly reshare: () => Promise<void>;
  readonly unreshare: () => Promise<void>;
  readonly counts: FanfareItem['action']['engagement'] | undefined;
  /** What the reader has done. */
  readonly mine: FanfareItem['action']['viewer'] | undefined;
  readonly isPending: boolean;
} {
  const reader = useReader();
  const action = useFeedAction(actionId);
  const isPending = reader.actions.isPending(actionId);
  return useMemo(
    () => ({
      like: () => interact(reader, actionId, 'LIKE', true),
      unlike: () => interact(reader, actionId, 'LIKE', false),
      toggleReaction: (reaction: string) => {
        const now = reader.actions.get(actionId);
        const isGiven = now !== undefined && hasGiven(now, 'REACTION', reaction);
        return interact(reader, actionId, 'REACTION', !isGiven, reaction);
      },
      reshare: () => interact(reader, actionId, 'RESHARE', true),
      unreshare: () => interact(reader, actionId, 'RESHARE', false),
      counts: action?.engagement,
      mine: action?.viewer,
      isPending,
    }),
    [reader, actionId, action, isPending],
  );
}

/** Whether the reader keeps an action for later. */
export function useBookmark(actionId: string): {
  readonly isBookmarked: boolean;
  readonly toggle: () => Promise<void>;
} {
  const reader = useReader();
  const isBookmarked = useFeedAction(actionId)?.viewer.isBookmarked ?? false;
  return { isBookmarked, toggle: () => bookmark(reader, actionId, !isBookmarked) };
}
