import type { FeedMutations, MuteTarget } from '@fanfare/client';
import { useMemo, useState } from 'react';
import type { FanfareItem } from '../item.ts';
import { useReader } from '../provider.tsx';
import { asError } from '../store/as-error.ts';
import * as deeds from '../store/deeds.ts';
import { blockAnswer, followAnswer, setBlock, setFollow } from '../store/standings.ts';
import type { Undo } from '../store/undos.ts';
import { useAnswer } from './answer.ts';

/** Whether the reader follows a person or a thing; `isFollowed` is undefined until it is known. */
export function useFollow(refId: string): {
  readonly isFollowed: boolean | undefined;
  readonly followerCount: number | undefined;
  readonly error: Error | null;
  readonly toggle: () => Promise<void>;
} {
  const reader = useReader();
  const { data, error } = useAnswer(followAnswer(reader, refId));
  const [failed, attempt] = useAttempt(refId);
  const { isFollowed = false, followerCount = 0 } = data?.node ?? {};
  return {
    ...(data === undefined
      ? { isFollowed: undefined, followerCount: undefined }
      : { isFollowed, followerCount }),
    error: failed ?? error,
    toggle: () => attempt(() => setFollow(reader, refId, !isFollowed)),
  };
}

/** Whether the reader blocks a person; undefined until it is known. Neither sees the other from then on. */
export function useBlock(memberId: string): {
  readonly isBlocked: boolean | undefined;
  readonly error: Error | null;
  /** Blocks, or ends it. */
  readonly toggle: () => Promise<void>;
} {
  const reader = useReader();
  const { data, error } = useAnswer(blockAnswer(reader, memberId));
  const [failed, attempt] = useAttempt(memberId);
  const isBlocked = data && (data.member?.isBlocked ?? false);
  return {
    isBlocked,
    error: failed ?? error,
    toggle: () => attempt(() => setBlock(reader, memberId, isBlocked !== true)),
  };
}

/** What a write of a hook has failed with. @param of what failed for another one says nothing about this one */
function useAttempt(of: string): [Error | null, (run: () => Promise<unknown>) => Promise<void>] {
  const [failed, setFailed] = useState<readonly [of: string, error: Error] | null>(null);
  const attempt = async (run: () => Promise<unknown>): Promise<void> => {
    setFailed(null);
    try {
      await run();
    } catch (reason) {
      setFailed([of, asError(reason)]);
    }
  };
  return [failed?.[0] === of ? failed[1] : null, attempt];
}

/** Sends the words of a reader about an action, a comment or a person to the moderators. */
export function useReport(): FeedMutations['report'] {
  return useReader().client.mutations.report;
}

/** What a reader can do with an item of a list. Each that has an inverse gives it as `undo`, and offers it to the `UndoToast`. */
export function useItemActions(item: FanfareItem): {
  readonly hide: () => Promise<Undo>;
  readonly archive: () => Promise<Undo>;
  readonly unarchive: () => Promise<Undo>;
  readonly snooze: (until: Date) => Promise<Undo>;
  /** Its author, unless another target is given: a person, a thing, a type or a phrase. @param until absent: for good */
  readonly mute: (target?: MuteTarget, until?: Date) => Promise<Undo>;
  /** Its author. */
  readonly block: () => Promise<Undo>;
  readonly report: (reason: string, text?: string) => Promise<void>;
  readonly deleteAction: () => Promise<void>;
} {
  const reader = useReader();
  return useMemo(() => {
    const done = async (what: Undo['what'], taken: Promise<() => Promise<void>>): Promise<Undo> =>
      reader.undos.did({ what, item, undo: await taken });
    const { id: actionId, actor } = item.action;
    return {
      hide: () => done('hide', deeds.remove(reader, item, 'hide')),
      archive: () => done('archive', deeds.remove(reader, item, 'archive')),
      unarchive: () => done('unarchive', deeds.remove(reader, item, 'unarchive')),
      snooze: (until) => done('snooze', deeds.snooze(reader, item, until.toISOString())),
      mute: (target = { memberId: actor.memberId }, until) =>
        done('mute', deeds.muteBy(reader, item, target, until)),
      block: () => done('block', deeds.blockAuthor(reader, item)),
      report: async (reason, text) => {
        await reader.client.mutations.report({ actionId, reason, ...(text !== undefined && { text }) });
      },
      deleteAction: () => deeds.deleteAction(reader, actionId),
    };
  }, [reader, item]);
}
