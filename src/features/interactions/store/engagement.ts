import { ObjectId, type Collection } from 'mongodb';
import type { Action, ActionId } from '../../../domain/action.ts';
import { claimedBy, type Claim } from '../../../fan-out/store/fan-out-claim.ts';
import { gathered } from '../../../lib/gathered.ts';
import { groupsOf } from '../../../lib/groups-of.ts';
import { toAction } from '../../../storage/actions/action-document.ts';
import type { ActionDocument, NewClaim } from '../../../storage/documents/documents.ts';
import type { EventEntries } from '../../../storage/stages/event-entries.ts';
import { claimedIfDue } from '../../../storage/stages/fan-out-stages.ts';
import {
  interactionCounted,
  interactionMarked,
  type InteractionMark,
} from '../../../storage/stages/interaction-stages.ts';
import { newRevision, revised } from '../../../storage/stages/revision.ts';

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly engagement: ReturnType<typeof engagement>;
  }
}

/** How interactions change an action. */
export function engagement(collection: Collection<ActionDocument>, events: EventEntries) {
  const count = counting(collection);
  return {
    /**
     * Records on an action that its interactions changed, and requests a pass. Updates counts optimistically; the pass
     * recomputes them. `null` when the action is gone. `dueAt`: when workers have to look for it; `null`: one has it already.
     * @param claim by which the pass is claimed if it is due in the lane LIVE; `null`: not.
     */
    async markInteraction(
      id: ActionId,
      mark: InteractionMark,
      claim: NewClaim | null,
    ): Promise<{
      readonly action: Action;
      readonly claims: readonly Claim[];
      readonly dueAt: Date | null;
    } | null> {
      const document = await collection.findOneAndUpdate(
        { _id: new ObjectId(id), isDeleted: false },
        revised([
          { $set: interactionMarked(mark, events) },
          ...(claim === null ? [] : [{ $set: claimedIfDue(claim) }]),
        ]),
        { returnDocument: 'after' },
      );
      if (document === null) return null;
      const { state, leaseUntil = null } = document.fanOut;
      const dueAt = state === 'PENDING' ? leaseUntil : null;
      return { action: toAction(document), claims: claimedBy(claim, [document]), dueAt };
    },

    /**
     * Records on an action that its interactions changed, without a pass. `null`: the action is gone or has been edited since it
     * was read, or one of its passes is pending or may have counted the change: then a pass is needed. One round trip, shared by
     * calls at the same time.
     */
    countInteraction: async (one: Counting): Promise<Counted | null> => (await count(one))(one),
  };
}

/** A change that was probably counted. */
export interface Counted {
  /** The revision of the action, unless it has been written again since. */
  readonly rev: number;
  /** Otherwise only the revision tells. */
  readonly isCertain: boolean;
}

/** A change to be counted. */
export interface Counting extends Pick<InteractionMark, 'change' | 'boost'> {
  /** As it was read. */
  readonly action: Pick<Action, 'id' | 'version' | 'audienceRev'>;
  readonly lastPassBefore: Date;
}

const readAs = ({ action: { id, version, audienceRev } }: Counting): string =>
  [id, version, audienceRev].join();

/** Calls whose changes are counted together. */
const COUNTED_AT_ONCE = 50;

const counting = (collection: Collection<ActionDocument>) =>
  gathered(
    async (all: readonly Counting[]): Promise<(one: Counting) => Counted | null> => {
      // In one order in all processes: two that meet never wait for each other.
      const groups = [...groupsOf(all, readAs)].sort(([name], [other]) => (name < other ? -1 : 1));
      const writes = groups.map(([name, alike]) => [name, countedAll(alike)] as const);
      const { matchedCount } = await collection.bulkWrite(
        writes.map(([, { filter, stages, rev }]) => ({
          updateOne: { filter, update: revised(stages, rev) },
        })),
        { ordered: false },
      );
      const byName = new Map(writes);
      const isCertain = matchedCount === writes.length;
      return (one) => {
        const write = byName.get(readAs(one));
        return write === undefined || matchedCount === 0 ? null : { rev: write.rev, isCertain };
      };
    },
    { most: COUNTED_AT_ONCE },
  );

/** One write for changes of an action that was read alike. */
function countedAll(changes: readonly [Counting, ...Counting[]]) {
  const [{ action }] = changes;
  const { id, version, audienceRev } = action;
  const passes = changes.map(({ lastPassBefore }) => lastPassBefore.getTime());
  const filter = {
    ...{ _id: new ObjectId(id), isDeleted: false, 'fanOut.state': 'DONE' as const },
    'fanOut.doneAt': { $lt: new Date(Math.min(...passes)) },
    version: version === 1 ? { $exists: false } : version,
    audienceRev: audienceRev === 0 ? { $exists: false } : audienceRev,
  };
  return {
    filter,
    stages: changes.map((change) => ({ $set: interactionCounted(change) })),
    rev: newRevision(),
  };
}
