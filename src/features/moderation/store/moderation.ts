import { ObjectId, type Collection, type Document, type Filter } from 'mongodb';
import type {
  Action,
  ActionId,
  UserId,
  ActionModerationKind,
  ModerationRecord,
} from '../../../domain/action.ts';
import { idsOf, upTo } from '../../../storage/database/batches.ts';
import { toAction } from '../../../storage/actions/action-document.ts';
import type { Ruling, Verdict } from '../../../domain/report.ts';
import { fieldBeside } from '../../../domain/stored-id.ts';
import type { HostEventType } from '../../../domain/host-event.ts';
import type { ActionDocument, ModerationDocument } from '../../../storage/documents/documents.ts';
import { NO_EVENTS, type EventEntries } from '../../../storage/stages/event-entries.ts';
import { passRequested } from '../../../storage/stages/fan-out-stages.ts';
import type { Collections } from '../../../storage/database/mongo.ts';
import { revised, unrevised, literal } from '../../../storage/stages/revision.ts';
import { type Declared, index, indexWithin } from '../../../storage/documents/declaration.ts';
import { withoutSubject } from '../../../descriptors/anonymise.ts';
import { beyond, type Stretch, turned } from '../../../storage/documents/keyset.ts';

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly moderation: ReturnType<typeof moderationRepository>;
  }
}

export const MODERATION_LOG: Declared<'moderationLog'> = {
  name: 'moderationLog',
  holds: 'what a moderator did to an action or an interaction, and why',
  ids: { member: ['by'] },
  indexes: [
    index('action', { actionId: 1, at: -1, _id: -1 }, 'what was done to an action, newest first'),
    index('newest', { at: -1, _id: -1 }, 'what was done to any action, newest first'),
    index('by', { by: 1, at: -1, _id: -1 }, 'erasure and export: what somebody did as a moderator'),
    indexWithin('newest', { at: -1, _id: -1 }, 'what was done to any action, newest first'),
  ],
  shard: { because: 'written by moderators only, one entry at a time' },
  erase: ['ACTIONS', 'MODERATION'],
  export: [
    {
      section: 'moderation',
      of: 'by',
      entry: (document) => {
        const { by: _by, ...record } = toRecord(document);
        return record;
      },
    },
  ],
  action: {
    id: 'actionId',
    purge: { because: 'says what was done, also to what is deleted' },
    erased: ({ by, reason, ...rest }, subject) => ({
      ...rest,
      by: by === subject.memberId ? subject.pseudonym : by,
      reason: reason === null ? null : withoutSubject(reason, subject),
    }),
  },
};

export interface Moderation {
  readonly kind: ActionModerationKind;
  readonly by: UserId;
  readonly at: Date;
  readonly reason: string | null;
}

/**
 * The pass of a withdrawal waits this long for the committing process to notify the watchers, so that they are not notified
 * twice. The rules hide the action meanwhile.
 */
const WITHDRAWAL_GRACE_MS = 5_000;

const NEXT_VERSION = { $add: ['$fanOut.version', 1] };

interface Change {
  readonly applies: Filter<ActionDocument>;
  readonly set: (at: Date) => Document;
  readonly event: HostEventType;
}

const CHANGES: Readonly<Record<ActionModerationKind, Change>> = {
  HIDE: {
    event: 'action.hidden',
    applies: { isDeleted: false, isHidden: false },
    set: () => ({ isHidden: true, 'fanOut.unnotifiedVersion': NEXT_VERSION }),
  },
  UNHIDE: {
    event: 'action.unhidden',
    applies: { isDeleted: false, isHidden: true },
    // Notifications were skipped while the action was hidden. Without a withdrawal pass in between, the next pass finds
    // nothing to change, so it must notify everybody, as after an interrupted pass.
    set: (at) => ({
      isHidden: false,
      // It is news again, also for those it names: they may have looked while it was hidden.
      ...{ shownAt: at, namedAt: at, latest: { $max: ['$latest', at] }, isBumped: true },
      isWithheld: '$$REMOVE',
      'fanOut.begun': { $add: [{ $ifNull: ['$fanOut.begun', 0] }, 1] },
      'fanOut.unnotifiedVersion': '$$REMOVE',
    }),
  },
  DELETE: {
    event: 'action.deleted',
    applies: { isDeleted: false },
    set: () => ({
      isDeleted: true,
      expiresAt: '$$REMOVE',
      // For an already hidden action watchers have been notified, or its pending pass notifies them.
      'fanOut.unnotifiedVersion': {
        $cond: ['$isHidden', { $ifNull: ['$fanOut.unnotifiedVersion', '$$REMOVE'] }, NEXT_VERSION],
      },
    }),
  },
};

/** If the action was already hidden or is shown again, nobody needs a notification, and its pass need not wait. */
function withdrawnAfter(at: Date): Document {
  return { $cond: ['$isHidden', at, new Date(at.getTime() + WITHDRAWAL_GRACE_MS)] };
}

function toRecord({
  _id,
  actionId,
  interactionId,
  at,
  by,
  kind,
  reason,
}: ModerationDocument): ModerationRecord {
  return {
    ...{ id: _id.toHexString(), actionId: actionId.toHexString(), at, by, kind, reason },
    interactionId: interactionId?.toHexString() ?? null,
  };
}

/** Idempotent: the ids of records are derived from the change. */
export async function logRecords(
  moderationLog: Collection<ModerationDocument>,
  records: readonly ModerationDocument[],
): Promise<void> {
  await moderationLog.bulkWrite(
    records.map((record) => ({
      replaceOne: { filter: { _id: record._id }, replacement: record, upsert: true },
    })),
    { ordered: false },
  );
}

/** Actions whose time is over and that are still there. */
export const isExpired = (now: Date): Filter<ActionDocument> => ({
  // `$exists` states the partial index's condition, since not every planner infers it from `$lte`.
  expiresAt: { $exists: true, $lte: now },
  isDeleted: false,
});

/** Changes of an action by a ruling on reports. An action that it does not apply to only gets its number. */
const RULINGS: Readonly<Record<Verdict, Ruled>> = {
  WITHHELD: {
    kind: 'HIDE',
    applies: { isHidden: false },
    set: { isWithheld: true },
    others: { isHidden: true },
    left: {},
  },
  HIDDEN: {
    kind: 'HIDE',
    applies: { isHidden: false },
    set: {},
    others: { isHidden: true },
    // It stays hidden for good.
    left: { isWithheld: 1 },
  },
  SHOWN: {
    kind: 'UNHIDE',
    // An action that a moderator has hidden stays hidden.
    applies: { isHidden: true, isWithheld: true },
    set: {},
    others: { $or: [{ isHidden: false }, { isWithheld: { $exists: false } }] },
    left: {},
  },
};

interface Ruled {
  readonly kind: ActionModerationKind;
  readonly applies: Filter<ActionDocument>;
  readonly set: Document;
  /** All that it does not apply to. */
  readonly others: Filter<ActionDocument>;
  /** Removed of these. */
  readonly left: { readonly isWithheld?: 1 };
}

const recordOf = (actionId: ObjectId, { kind, by, at, reason }: Moderation): ModerationDocument => ({
  ...{ _id: new ObjectId(), actionId, at },
  ...fieldBeside(by),
  ...{ by, kind, reason },
});

const loggedWith = (record: ModerationDocument): Document => ({
  $concatArrays: [{ $ifNull: ['$unlogged', []] }, [literal(record)]],
});

const NEWEST_FIRST = { at: -1, _id: -1 } as const;

export function moderationRepository(
  { actions, moderationLog }: Collections,
  events: EventEntries = NO_EVENTS,
) {
  async function change(
    id: ActionId,
    moderation: Moderation,
    more: { readonly applies: Filter<ActionDocument>; readonly set: Document } = { applies: {}, set: {} },
  ): Promise<Action | null> {
    const { kind, at } = moderation;
    const { applies, set, event } = CHANGES[kind];
    const _id = new ObjectId(id);
    const document = await actions.findOneAndUpdate(
      { _id, ...applies, ...more.applies },
      revised([
        {
          $set: {
            ...set(at),
            ...more.set,
            ...events.staged(event, at),
            ...passRequested({ notBefore: withdrawnAfter(at), lane: 'URGENT', isModerated: true }),
            unlogged: loggedWith(recordOf(_id, moderation)),
          },
        },
      ]),
      { returnDocument: 'after' },
    );
    return document === null ? null : toAction(document);
  }

  /** However late the write arrives, it does not show what a later ruling of the queue of reports has withheld. */
  async function show(id: ActionId, moderation: Moderation): Promise<Action | null> {
    const found = await actions.findOne(
      { _id: new ObjectId(id), isDeleted: false, isHidden: true },
      { projection: { ruling: 1 } },
    );
    if (found === null) return null;
    return change(id, moderation, { applies: { ruling: found.ruling ?? { $exists: false } }, set: {} });
  }

  return {
    /**
     * Changes an action, requests a pass and records who did it, in one write. `null` when the action is already in the
     * wanted state or does not exist. To show it takes a look first.
     */
    apply: (id: ActionId, moderation: Moderation): Promise<Action | null> =>
      moderation.kind === 'UNHIDE' ? show(id, moderation) : change(id, moderation),

    /**
     * Deletes what is scheduled: nobody has it, so there is no event, and its pass only leaves a tombstone. `null`: it is not
     * scheduled any more.
     */
    async cancel(id: ActionId, moderation: Moderation): Promise<Action | null> {
      const { at } = moderation;
      const _id = new ObjectId(id);
      const document = await actions.findOneAndUpdate(
        { _id, publishAt: { $exists: true } },
        revised([
          {
            $set: {
              ...{ conducted: at, recorded: at, latest: at },
              ...passRequested({ notBefore: at, lane: 'URGENT', isModerated: true }),
              unlogged: loggedWith(recordOf(_id, moderation)),
            },
          },
          { $unset: ['publishAt', 'expiresAt'] },
        ]),
        { returnDocument: 'after' },
      );
      return document === null ? null : toAction(document);
    },

    /** Keeps hidden, as this moderator's decision, an action that is hidden only until somebody has looked. `false`: it is not. */
    async takeOver(id: ActionId, moderation: Moderation): Promise<boolean> {
      const _id = new ObjectId(id);
      const { matchedCount } = await actions.updateOne(
        { _id, isDeleted: false, isHidden: true, isWithheld: true },
        unrevised({ $unset: { isWithheld: 1 }, $push: { unlogged: recordOf(_id, moderation) } }),
      );
      return matchedCount > 0;
    },

    /**
     * Carries out a ruling of the queue of reports, unless a later one has been. Returns whether the action exists, and the
     * action if that has hidden or shown it.
     */
    async rule(
      id: ActionId,
      { number, verdict }: Pick<Ruling, 'number' | 'verdict'>,
      by: Pick<Moderation, 'by' | 'at' | 'reason'>,
    ): Promise<{ readonly isThere: boolean; readonly changed: Action | null }> {
      const { kind, applies, set, others, left } = RULINGS[verdict];
      const _id = new ObjectId(id);
      const isNext: Filter<ActionDocument> = { ruling: { $not: { $gte: number } } };
      for (;;) {
        const changed = await change(
          id,
          { kind, ...by },
          { applies: { ...applies, ...isNext }, set: { ...set, ruling: number } },
        );
        if (changed !== null) return { isThere: true, changed };
        const { matchedCount } = await actions.updateOne(
          { _id, isDeleted: false, ...others, ...isNext },
          unrevised({ $set: { ruling: number }, $unset: left }),
        );
        if (matchedCount > 0) return { isThere: true, changed: null };
        const found = await actions.findOne({ _id }, { projection: { isDeleted: 1, ruling: 1 } });
        // Otherwise it was hidden or shown between the two.
        if (found === null || found.isDeleted || (found.ruling ?? 0) >= number)
          return { isThere: found !== null, changed: null };
      }
    },

    /** Deletes an expired action like `apply`, but without a log entry. `null`: not expired. */
    async expire(id: ActionId, at: Date): Promise<Action | null> {
      const { applies, set, event } = CHANGES.DELETE;
      const document = await actions.findOneAndUpdate(
        { ...applies, _id: new ObjectId(id), expiresAt: { $lte: at } },
        revised([
          {
            $set: {
              ...set(at),
              ...events.staged(event, at),
              ...passRequested({ notBefore: withdrawnAfter(at), lane: 'URGENT', isModerated: true }),
            },
          },
        ]),
        { returnDocument: 'after' },
      );
      return document === null ? null : toAction(document);
    },

    /** Ids of expired actions, oldest first. Index `expiry`. */
    async expired(now: Date, limit: number): Promise<ActionId[]> {
      const documents = await idsOf(actions.find(isExpired(now), upTo(limit)).sort({ expiresAt: 1 }));
      return documents.map((id) => id.toHexString());
    },

    /** Moves the log entries stored with the action to the log. Idempotent: their ids are derived from the change. */
    async log(id: ActionId): Promise<void> {
      const _id = new ObjectId(id);
      const action = await actions.findOne({ _id }, { projection: { unlogged: 1 } });
      const unlogged = action?.unlogged ?? [];
      if (unlogged.length === 0) return;
      await logRecords(moderationLog, unlogged);
      await actions.updateOne(
        { _id },
        unrevised({ $pull: { unlogged: { _id: { $in: unlogged.map((record) => record._id) } } } }),
      );
    },

    /** Records that watchers know of this version's withdrawal, so that its pass neither notifies them nor waits. */
    async noteNotified(id: ActionId, version: number, now: Date): Promise<void> {
      const isPending = { $eq: ['$fanOut.state', 'PENDING'] };
      await actions.updateOne(
        { _id: new ObjectId(id), 'fanOut.unnotifiedVersion': version },
        unrevised([
          {
            $set: {
              'fanOut.unnotifiedVersion': '$$REMOVE',
              'fanOut.leaseUntil': {
                $cond: [isPending, { $min: ['$fanOut.leaseUntil', now] }, '$fanOut.leaseUntil'],
              },
            },
          },
        ]),
      );
    },

    /** Newest first. Indexes `action`, `newest`. */
    async list(
      beside: UserId,
      actionId: ActionId | null,
      { from, isUp, limit }: Stretch<{ readonly at: Date; readonly id: string }>,
    ): Promise<ModerationRecord[]> {
      const documents = await moderationLog
        .find(
          {
            ...fieldBeside(beside),
            ...(actionId === null ? {} : { actionId: new ObjectId(actionId) }),
            ...beyond(turned(NEWEST_FIRST, isUp), from && { at: from.at, _id: new ObjectId(from.id) }),
          },
          upTo(limit),
        )
        .sort(turned(NEWEST_FIRST, isUp))
        .toArray();
      return documents.map(toRecord);
    },
  };
}
