import { ObjectId, type Filter, type Document, type WithId } from 'mongodb';
import type { ActionId, UserId, InteractionModerationKind } from '../../../domain/action.ts';
import { isToggle, type Interaction, type InteractionId } from '../../../domain/interaction.ts';
import { shownSince, type InteractionKind } from '../../../domain/relevancy.ts';
import type { Ruling, Verdict } from '../../../domain/report.ts';
import { fieldBeside } from '../../../domain/stored-id.ts';
import { clock } from '../../../lib/clock.ts';
import { gathered } from '../../../lib/gathered.ts';
import { idOfTime } from '../../../storage/database/database-time.ts';
import {
  type InteractionDocument,
  type ModerationDocument,
  toInteraction,
} from '../../../storage/documents/documents.ts';
import { insertMissing } from '../../../storage/database/batches.ts';
import { NO_EVENTS, type EventEntries } from '../../../storage/stages/event-entries.ts';
import type { Collections } from '../../../storage/database/mongo.ts';
import { logRecords } from '../../moderation/store/moderation.ts';
import { literal } from '../../../storage/stages/revision.ts';
import { threadNotes, type ThreadChange } from './threads.ts';

export interface NewInteraction extends Pick<
  Interaction,
  'id' | 'actionId' | 'kind' | 'actorId' | 'text' | 'reaction' | 'parentId' | 'data'
> {
  /** `null`: now. */
  readonly at: Date | null;
  /** Unique per action. */
  readonly key: string;
  readonly idempotencyKey: string | null;
  readonly departmentIds: readonly string[];
  /** Members that the comment mentions. */
  readonly mentions: readonly UserId[];
  /** The actor of the action. */
  readonly ownerId: UserId;
  /** The author of the comment it replies to. */
  readonly parentActorId: UserId | null;
  /** Hidden until a moderator shows it. */
  readonly isHeld: boolean;
  /** Followers of the actor receive the action. */
  readonly passesOn: boolean;
  /** The members whose feeds it does not change. */
  readonly notFor: readonly string[];
}

/** Upper bound on remembered idempotency keys of an interaction that is repeatedly given and taken back. */
const MOST_REPLAY_KEYS = 50;

function newDocument(
  interaction: NewInteraction,
  settling: ObjectId,
  events: EventEntries,
): InteractionDocument {
  const { actionId, key, actorId, departmentIds, kind, text, reaction, parentId, data } = interaction;
  const { mentions, parentActorId, ownerId } = interaction;
  const now = clock.now();
  const at = interaction.at ?? now;
  const to = [...new Set([...(parentActorId === null ? [] : [parentActorId]), ...mentions])];
  const isReply = parentActorId !== null && parentActorId !== actorId && !mentions.includes(parentActorId);
  const isKeyed = isToggle(kind) && interaction.idempotencyKey !== null;
  return {
    _id: new ObjectId(interaction.id),
    ...{ actionId: new ObjectId(actionId), key, actorId, departmentIds: [...departmentIds] },
    ...fieldBeside(actorId),
    ...{ kind, at },
    ...(isKeyed ? { replayKeys: [interaction.idempotencyKey] } : {}),
    ...(text === null ? {} : { text }),
    ...(reaction === null ? {} : { reaction }),
    ...(parentId === null ? {} : { parentId: new ObjectId(parentId) }),
    ...(data === null ? {} : { data }),
    ...(mentions.length === 0 ? {} : { mentions: [...mentions] }),
    ...(to.length === 0 ? {} : { to }),
    ...(isReply ? { replyTo: parentActorId } : {}),
    ...(ownerId === actorId || to.includes(ownerId) ? {} : { ownerId }),
    ...(interaction.isHeld
      ? { state: 'HIDDEN' as const, isWithheld: true as const, stateAt: now }
      : { shownAt: shownSince(at, now) }),
    ...(interaction.passesOn ? { passedOn: now } : {}),
    ...(interaction.notFor.length === 0 ? {} : { notFor: [...interaction.notFor] }),
    settling,
    ...events.inserted('interaction.recorded', now),
  };
}

/** Update pipeline fields that restore its former state, unless the key has given it before. */
function givenAgain(
  { idempotencyKey, passesOn }: NewInteraction,
  token: ObjectId,
  events: EventEntries,
): Document {
  const keys = { $ifNull: ['$replayKeys', []] };
  const isReplay = idempotencyKey === null ? false : { $in: [literal(idempotencyKey), keys] };
  const isAgain = { $and: [{ $eq: ['$state', 'REMOVED'] }, { $not: [isReplay] }] };
  const orAbsent = (field: string): Document => ({ $ifNull: [field, '$$REMOVE'] });
  return {
    state: {
      $cond: [isAgain, { $cond: [{ $eq: ['$wasHidden', true] }, 'HIDDEN', '$$REMOVE'] }, orAbsent('$state')],
    },
    stateAt: { $cond: [isAgain, clock.now(), orAbsent('$stateAt')] },
    wasHidden: { $cond: [isAgain, '$$REMOVE', orAbsent('$wasHidden')] },
    settling: { $cond: [isAgain, token, orAbsent('$settling')] },
    // Its first time is kept. A reshare that did not reach followers then does now, if it may.
    ...(passesOn
      ? { passedOn: { $ifNull: ['$passedOn', { $cond: [isAgain, clock.now(), '$$REMOVE'] }] } }
      : {}),
    ...events.staged('interaction.recorded', clock.now(), isAgain),
    ...(idempotencyKey === null
      ? {}
      : {
          replayKeys: {
            $cond: [
              isReplay,
              keys,
              { $slice: [{ $concatArrays: [keys, [literal(idempotencyKey)]] }, -MOST_REPLAY_KEYS] },
            ],
          },
        }),
  };
}

/** An interaction that is shown again is news for the members it concerns, who may have looked while it was hidden. */
function hiddenOrShown({ kind, at }: InteractionModeration): Partial<InteractionDocument> {
  return kind === 'HIDE_INTERACTION' ? { state: 'HIDDEN' } : { shownAt: at };
}

export interface ChangedHidden {
  readonly interaction: Interaction;
  readonly settling: SettlingToken;
}

interface Ruled {
  readonly kind: InteractionModerationKind;
  readonly applies: Filter<InteractionDocument>;
  readonly set: Partial<InteractionDocument>;
  /** All that it does not apply to. */
  readonly others: Filter<InteractionDocument>;
  /** Update pipeline fields of these. */
  readonly left: Document;
}

const IS_REMOVED = { $eq: ['$state', 'REMOVED'] };
const WAS_HIDDEN = { $eq: ['$wasHidden', true] };
const ofRemoved = (field: string, is: unknown, cond: Document = IS_REMOVED): Document => ({
  [field]: { $cond: [cond, is, { $ifNull: [`$${field}`, '$$REMOVE'] }] },
});

/** Changes of an interaction by a ruling on reports; see `moderation.ts`. */
const RULINGS: Readonly<Record<Verdict, Ruled>> = {
  WITHHELD: {
    ...{ kind: 'HIDE_INTERACTION', applies: {}, set: { isWithheld: true } },
    others: { state: { $exists: true } },
    left: {
      ...ofRemoved('wasHidden', true),
      ...ofRemoved('isWithheld', true, { $and: [IS_REMOVED, { $not: [WAS_HIDDEN] }] }),
    },
  },
  HIDDEN: {
    ...{ kind: 'HIDE_INTERACTION', applies: {}, set: {} },
    others: { state: { $exists: true } },
    left: { ...ofRemoved('wasHidden', true), isWithheld: '$$REMOVE' },
  },
  SHOWN: {
    ...{ kind: 'UNHIDE_INTERACTION', applies: { isWithheld: true }, set: {} },
    others: { $nor: [{ state: 'HIDDEN', isWithheld: true }] },
    left: {
      ...ofRemoved('wasHidden', '$$REMOVE', { $and: [IS_REMOVED, { $eq: ['$isWithheld', true] }] }),
      // Nobody has seen it yet.
      ...ofRemoved('shownAt', '$$NOW', { $and: [IS_REMOVED, { $eq: ['$isWithheld', true] }] }),
      isWithheld: '$$REMOVE',
    },
  },
};

type Concerning = Pick<InteractionDocument, 'actionId' | 'actorId' | 'mentions' | 'replyTo'>;

/** The members whom a comment concerns, except for its author. @param at it becomes visible no later than this */
function threadsOf({ actionId, actorId, mentions = [], replyTo }: Concerning, at: Date): ThreadChange[] {
  return [
    ...mentions
      .filter((userId) => userId !== actorId)
      .map((userId) => ({ userId, actionId, of: 'mentions' as const, at })),
    ...(replyTo === undefined ? [] : [{ userId: replyTo, actionId, of: 'replies' as const, at }]),
  ];
}

/** Stored in a record from a change until its action has been marked. */
export type SettlingToken = string;

/** The second in which the change began. */
export const begunAt = (settling: SettlingToken): Date => new ObjectId(settling).getTimestamp();

const AT_ONCE = 100;

export interface KnownInteraction {
  readonly interaction: Interaction;
  /** `null`: its action has been marked with all its changes. */
  readonly settling: SettlingToken | null;
}

export interface RecordOutcome extends KnownInteraction {
  /** `none`: it was recorded before, or this idempotency key gave it before it was removed. */
  readonly change: 'new' | 'given again' | 'none';
}

/** Finds one interaction: its id, and its action, which is the shard key. */
export interface InteractionKey {
  readonly id: InteractionId;
  readonly actionId: ActionId;
}

export type RemovalOf =
  | InteractionKey
  | {
      readonly actionId: ActionId;
      readonly actorId: UserId;
      readonly kind: InteractionKind;
      readonly reaction: string | null;
    };

export interface InteractionModeration {
  readonly kind: InteractionModerationKind;
  readonly by: UserId;
  readonly at: Date;
  readonly reason: string | null;
}

const newToken = (): ObjectId => idOfTime(clock.now());

/** How interactions are hidden and shown. Part of the records of interactions. */
function hiding(
  collection: Collections['interactions'],
  noteThreads: ReturnType<typeof threadNotes>,
  events: EventEntries,
) {
  /** Lets the members it concerns find it where it is shown. */
  async function noteShown(interaction: InteractionKey, at: Date): Promise<void> {
    const document = await collection.findOne(
      { ...recordOf(interaction), to: { $exists: true } },
      { projection: { actionId: 1, actorId: 1, mentions: 1, replyTo: 1 } },
    );
    if (document !== null) await noteThreads(threadsOf(document, at));
  }

  async function changeHidden(
    interaction: InteractionKey,
    moderation: InteractionModeration,
    more: { readonly applies: Filter<InteractionDocument>; readonly set: Partial<InteractionDocument> } = {
      applies: {},
      set: {},
    },
  ): Promise<ChangedHidden | null> {
    const token = newToken();
    const isHide = moderation.kind === 'HIDE_INTERACTION';
    if (!isHide) await noteShown(interaction, moderation.at);
    // The members it concerns were not notified of it while it was hidden.
    const notified = isHide ? {} : events.pushed('interaction.recorded', moderation.at);
    const document = await collection.findOneAndUpdate(
      { ...recordOf(interaction), state: isHide ? { $exists: false } : 'HIDDEN', ...more.applies },
      {
        $set: {
          ...{ stateAt: moderation.at, settling: token },
          ...hiddenOrShown(moderation),
          ...more.set,
        },
        ...(isHide ? {} : { $unset: { state: 1, isWithheld: 1 } }),
        ...notified,
        $push: { ...notified.$push, unlogged: moderationDocument(interaction, moderation) },
      },
      { returnDocument: 'after' },
    );
    return document === null ? null : { interaction: toInteraction(document), settling: token.toHexString() };
  }

  /** However late the write arrives, it does not show what a later ruling of the queue of reports has withheld. */
  async function show(
    interaction: InteractionKey,
    moderation: InteractionModeration,
  ): Promise<ChangedHidden | null> {
    const hidden = { ...recordOf(interaction), state: 'HIDDEN' as const };
    const found = await collection.findOne(hidden, { projection: { ruling: 1 } });
    if (found === null) return null;
    const applies = { ruling: found.ruling ?? { $exists: false } };
    return changeHidden(interaction, moderation, { applies, set: {} });
  }

  return {
    /**
     * Hides or shows it and records the moderator, in one write. `null` when it is not in the opposite state. To show it takes a look
     * first.
     */
    setHidden: (interaction: InteractionKey, moderation: InteractionModeration) =>
      moderation.kind === 'UNHIDE_INTERACTION'
        ? show(interaction, moderation)
        : changeHidden(interaction, moderation),

    /** Keeps hidden, as this moderator's decision, an interaction that is hidden only until somebody has looked. `false`: it is not. */
    async takeOver(interaction: InteractionKey, moderation: InteractionModeration): Promise<boolean> {
      const { matchedCount } = await collection.updateOne(
        { ...recordOf(interaction), state: 'HIDDEN', isWithheld: true },
        { $unset: { isWithheld: 1 }, $push: { unlogged: moderationDocument(interaction, moderation) } },
      );
      return matchedCount > 0;
    },

    /**
     * Carries out a ruling of the queue of reports, unless a later one has been; of what was removed, for the time when it is
     * given again. Returns the interaction if that has hidden or shown it.
     */
    async rule(
      interaction: InteractionKey,
      { number, verdict }: Pick<Ruling, 'number' | 'verdict'>,
      by: Pick<InteractionModeration, 'by' | 'at' | 'reason'>,
    ): Promise<ChangedHidden | null> {
      const { kind, applies, set, others, left } = RULINGS[verdict];
      const isNext: Filter<InteractionDocument> = { ruling: { $not: { $gte: number } } };
      for (;;) {
        const changed = await changeHidden(
          interaction,
          { kind, ...by },
          { applies: { ...applies, ...isNext }, set: { ...set, ruling: number } },
        );
        if (changed !== null) return changed;
        const { matchedCount } = await collection.updateOne(
          { ...recordOf(interaction), ...others, ...isNext },
          [{ $set: { ...left, ruling: number } }],
        );
        if (matchedCount > 0) return null;
        const found = await collection.findOne(recordOf(interaction), { projection: { ruling: 1 } });
        // Otherwise it was hidden or shown between the two.
        if (found === null || (found.ruling ?? 0) >= number) return null;
      }
    },
  };
}

/**
 * Individual interactions. Each change sets `settling` in the same write; the caller then marks the action and settles the
 * change. The field lets upkeep find interrupted changes. Index `unsettled`.
 */
export function interactionRecords(
  { interactions: collection, moderationLog, threads }: Collections,
  events: EventEntries = NO_EVENTS,
) {
  const settle = gathered(
    (changed: readonly { readonly actionId: ObjectId; readonly settling: ObjectId }[]) =>
      collection.updateMany(
        {
          actionId: { $in: changed.map(({ actionId }) => actionId) },
          settling: { $exists: true, $in: changed.map(({ settling }) => settling) },
        },
        { $unset: { settling: 1 as const } },
      ),
    { most: AT_ONCE },
  );
  const noteThreads = threadNotes({ threads });
  /** Returns those whose keys were there. */
  const insert = gathered(
    (documents: readonly InteractionDocument[]) =>
      insertMissing(collection, documents, ({ actionId, key }) => `${actionId.toHexString()} ${key}`),
    { most: AT_ONCE },
  );

  return {
    /** Unordered; missing ones are left out. One round trip. */
    async findByIds(ids: readonly InteractionId[]): Promise<Interaction[]> {
      const documents = await collection.find({ _id: { $in: ids.map((id) => new ObjectId(id)) } }).toArray();
      return documents.map(toInteraction);
    },

    async find(id: InteractionId): Promise<KnownInteraction | null> {
      const document = await collection.findOne({ _id: new ObjectId(id) });
      return document === null ? null : known(document);
    },

    /**
     * Records an interaction, restores it if it was taken back, or finds that it was recorded before. One round trip, shared
     * by calls at the same time, two for a known key, and one before it if it concerns others than the owner of the action.
     * `null`: its action was purged meanwhile. Unique key: actionId, key.
     */
    async record(interaction: NewInteraction): Promise<RecordOutcome | null> {
      const token = newToken();
      const document = newDocument(interaction, token, events);
      // First, so that no comment is ever without.
      await noteThreads(threadsOf(document, document.shownAt ?? document.at));
      if (!(await insert(document)).has(document))
        return { interaction: toInteraction(document), change: 'new', settling: token.toHexString() };
      const { actionId, key } = document;
      const stored = isToggle(interaction.kind)
        ? await collection.findOneAndUpdate(
            { actionId, key },
            [{ $set: givenAgain(interaction, token, events) }],
            { returnDocument: 'after' },
          )
        : await collection.findOne({ actionId, key });
      if (stored === null) return null;
      return { ...known(stored), change: stored.settling?.equals(token) === true ? 'given again' : 'none' };
    },

    /** Whether an interaction with this key was recorded, whatever became of it. Index `key`. */
    async isRecorded(actionId: ActionId, key: string): Promise<boolean> {
      const filter = { actionId: new ObjectId(actionId), key };
      return (await collection.findOne(filter, { projection: { _id: 1 } })) !== null;
    },

    /** A member's newest interaction of a kind with an action, in any state. Index `own`. */
    async newestOwn(of: Exclude<RemovalOf, InteractionKey>): Promise<KnownInteraction | null> {
      const document = await collection.findOne(filterOf(of), { sort: { _id: -1 } });
      return document === null ? null : known(document);
    },

    /**
     * Removes interactions and deletes their texts and data. Returns the number of visible ones, and the token to settle
     * them. One round trip.
     */
    async remove(of: RemovalOf, now: Date): Promise<{ visible: number; settling: SettlingToken }> {
      const token = newToken();
      const removed = { state: 'REMOVED', stateAt: now, settling: token } as const;
      const bodies = { text: 1, data: 1 } as const;
      const filter = filterOf(of);
      const notified = events.pushed('interaction.removed', now);
      const [visible] = await Promise.all([
        collection.updateMany(
          { ...filter, state: { $exists: false } },
          { $set: removed, $unset: bodies, ...notified },
        ),
        collection.updateMany(
          { ...filter, state: 'HIDDEN' },
          { $set: { ...removed, wasHidden: true }, $unset: bodies, ...notified },
        ),
      ]);
      return { visible: visible.modifiedCount, settling: token.toHexString() };
    },

    /** Those among these that one write has removed; the reactions only of those that were visible. One round trip. Index `own`. */
    async removedIn(
      of: RemovalOf,
      token: SettlingToken,
    ): Promise<{ readonly ids: readonly InteractionId[]; readonly reactions: readonly string[] }> {
      const documents = await collection
        .find({ ...filterOf(of), settling: new ObjectId(token) })
        .project<WithId<Pick<InteractionDocument, 'reaction' | 'wasHidden'>>>({ reaction: 1, wasHidden: 1 })
        .toArray();
      return {
        ids: documents.map(({ _id }) => _id.toHexString()),
        reactions: documents.flatMap(({ reaction, wasHidden }) =>
          wasHidden === undefined ? (reaction ?? []) : [],
        ),
      };
    },

    ...hiding(collection, noteThreads, events),

    /** Replaces a comment's text. `null` when the comment is gone or already has that text. */
    async edit(
      interaction: InteractionKey,
      text: string,
      now: Date,
      moderation: InteractionModeration | null,
    ): Promise<{ interaction: Interaction; settling: SettlingToken } | null> {
      const token = newToken();
      const document = await collection.findOneAndUpdate(
        { ...recordOf(interaction), state: { $ne: 'REMOVED' }, text: { $ne: text } },
        {
          $set: { text, editedAt: now, settling: token },
          ...(moderation === null
            ? {}
            : { $push: { unlogged: moderationDocument(interaction, moderation) } }),
        },
        { returnDocument: 'after' },
      );
      return document === null
        ? null
        : { interaction: toInteraction(document), settling: token.toHexString() };
    },

    /** Moves the log entries stored with the record to the moderation log. Idempotent. */
    async logModeration(interaction: InteractionKey): Promise<void> {
      const record = recordOf(interaction);
      const document = await collection.findOne(record, { projection: { unlogged: 1 } });
      const unlogged = document?.unlogged ?? [];
      if (unlogged.length === 0) return;
      await logRecords(moderationLog, unlogged);
      await collection.updateOne(record, {
        $pull: { unlogged: { _id: { $in: unlogged.map((r) => r._id) } } },
      });
    },

    /** Records that the action has been marked; does nothing if they changed again. One write for several calls. Index `key`. */
    settle: (actionId: ActionId, token: SettlingToken) =>
      settle({ actionId: new ObjectId(actionId), settling: new ObjectId(token) }),

    /** Interactions that have been unsettled since before then, oldest first. Index `unsettled`. */
    async unsettledBefore(
      before: Date,
      limit: number,
    ): Promise<{ interaction: Interaction; settling: SettlingToken }[]> {
      const documents = await collection
        .find({
          settling: { $exists: true, $lt: ObjectId.createFromTime(Math.floor(before.getTime() / 1_000)) },
        })
        .sort({ settling: 1 })
        .limit(limit)
        .toArray();
      return documents.flatMap((document) => {
        const settling = tokenOf(document);
        return settling === null ? [] : [{ interaction: toInteraction(document), settling }];
      });
    },
  };
}

function known(document: InteractionDocument): KnownInteraction {
  return { interaction: toInteraction(document), settling: tokenOf(document) };
}

function tokenOf({ settling }: InteractionDocument): SettlingToken | null {
  return settling?.toHexString() ?? null;
}

/** Filter for one record. Includes the action, which is the shard key. */
function recordOf({ id, actionId }: InteractionKey): {
  readonly _id: ObjectId;
  readonly actionId: ObjectId;
} {
  return { _id: new ObjectId(id), actionId: new ObjectId(actionId) };
}

function filterOf(of: RemovalOf): Filter<InteractionDocument> {
  if ('id' in of) return recordOf(of);
  const { actionId, actorId, kind, reaction } = of;
  return {
    ...{ actorId, actionId: new ObjectId(actionId), kind },
    ...(reaction === null ? {} : { reaction }),
  };
}

function moderationDocument(
  { id, actionId }: InteractionKey,
  { kind, by, at, reason }: InteractionModeration,
): ModerationDocument {
  return {
    _id: new ObjectId(),
    actionId: new ObjectId(actionId),
    interactionId: new ObjectId(id),
    ...fieldBeside(by),
    ...{ at, by, kind, reason },
  };
}
