import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { FanfareItem } from '../item.ts';
import { useProvided, useReader } from '../provider.tsx';
import { asError } from '../store/as-error.ts';
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
      like: () => reader.interact(actionId, 'LIKE', true),
      unlike: () => reader.interact(actionId, 'LIKE', false),
      toggleReaction: (reaction: string) => {
        const now = reader.actions.get(actionId);
        const isGiven = now !== undefined && hasGiven(now, 'REACTION', reaction);
        return reader.interact(actionId, 'REACTION', !isGiven, reaction);
      },
      reshare: () => reader.interact(actionId, 'RESHARE', true),
      unreshare: () => reader.interact(actionId, 'RESHARE', false),
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
  return { isBookmarked, toggle: () => reader.bookmark(actionId, !isBookmarked) };
}

/** Whether the reader follows a person or a thing; `isFollowed` is undefined until it is known. */
export function useFollow(refId: string): {
  readonly isFollowed: boolean | undefined;
  readonly followerCount: number | undefined;
  readonly error: Error | null;
  readonly toggle: () => Promise<void>;
} {
  const { reader, isEnabled } = useProvided();
  const { follows } = reader;
  const [failed, setFailed] = useState<readonly [refId: string, error: Error] | null>(null);
  const state = useSyncExternalStore(
    follows.subscribe,
    () => follows.get(refId),
    () => undefined,
  );
  const fail = (reason: unknown): void => {
    setFailed([refId, asError(reason)]);
  };
  useEffect(() => {
    if (isEnabled) follows.load(refId).catch(fail);
  }, [follows, refId, isEnabled]);
  const toggle = async (): Promise<void> => {
    setFailed(null);
    await follows.set(refId, state?.isFollowed !== true).catch(fail);
  };
  // What failed for another one says nothing about this one.
  const error = failed?.[0] === refId ? failed[1] : null;
  return { isFollowed: state?.isFollowed, followerCount: state?.followerCount, error, toggle };
}

export interface Undo {
  readonly what: 'hide' | 'archive' | 'unarchive' | 'snooze';
  readonly item: FanfareItem;
  readonly undo: () => Promise<void>;
}

/** What a reader can do with an item of a list. Each that has an inverse gives it as `undo`. */
export function useItemActions(item: FanfareItem): {
  readonly hide: () => Promise<Undo>;
  readonly archive: () => Promise<Undo>;
  readonly unarchive: () => Promise<Undo>;
  readonly snooze: (until: Date) => Promise<Undo>;
  readonly deleteAction: () => Promise<void>;
} {
  const reader = useReader();
  return useMemo(() => {
    const remove = async (what: 'hide' | 'archive' | 'unarchive'): Promise<Undo> => ({
      ...{ what, item },
      undo: await reader.remove(item, what),
    });
    return {
      hide: () => remove('hide'),
      archive: () => remove('archive'),
      unarchive: () => remove('unarchive'),
      snooze: async (until) => ({
        ...{ what: 'snooze', item },
        undo: await reader.snooze(item, until.toISOString()),
      }),
      deleteAction: () => reader.deleteAction(item.action.id),
    };
  }, [reader, item]);
}
