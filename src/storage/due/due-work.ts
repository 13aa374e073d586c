import type { Document } from 'mongodb';
import { isExpired } from '../../features/moderation/store/moderation.ts';
import { isRenameDue } from '../../features/directory/store/renames.ts';
import { hasMuteEnd } from '../../features/mutes/store.ts';
import { isSnoozeOver } from '../../features/marks/store/snoozes.ts';
import type { Collections } from '../database/mongo.ts';

/** Work that becomes due by the clock, or that nobody announces. */
export type DueKind = 'expiry' | 'muteEnd' | 'rename' | 'snooze';

/** What the workers of a process look for, asked together. */
export function dueWorkRepository({ actions, feeds, itemMarks, members, refs }: Collections) {
  return {
    /**
     * The kinds of which anything is due by then, by the same conditions as the searches of the workers. One command, which
     * reads at most one entry of each index. Indexes `expiry`, `mute_wake`, `rename`, `snoozes_due`.
     */
    async kinds(now: Date): Promise<ReadonlySet<DueKind>> {
      const found = await actions
        .aggregate<{ readonly kind: DueKind }>([
          ...anyOf('expiry', isExpired(now)),
          unionWith(feeds.collectionName, anyOf('muteEnd', hasMuteEnd(now))),
          unionWith(itemMarks.collectionName, anyOf('snooze', isSnoozeOver(now))),
          unionWith(refs.collectionName, anyOf('rename', isRenameDue(now))),
          unionWith(members.collectionName, anyOf('rename', isRenameDue(now))),
        ])
        .toArray();
      return new Set(found.map(({ kind }) => kind));
    },
  };
}

export type DueWorkRepository = ReturnType<typeof dueWorkRepository>;

function anyOf(kind: DueKind, condition: Document): Document[] {
  return [{ $match: condition }, { $limit: 1 }, { $project: { _id: 0, kind: { $literal: kind } } }];
}

function unionWith(coll: string, pipeline: readonly Document[]): Document {
  return { $unionWith: { coll, pipeline } };
}
