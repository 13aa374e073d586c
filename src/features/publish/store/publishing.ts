import type { ObjectId } from 'mongodb';
import type { Action, UserId } from '../../../domain/action.ts';
import { gathered } from '../../../lib/gathered.ts';
import { inSlices } from '../../../lib/turn.ts';
import { newActionDocument, toAction, type NewAction } from '../../../storage/actions/action-document.ts';
import type { ActionDocument, NewClaim, PublicationDocument } from '../../../storage/documents/documents.ts';
import { retryOnDuplicateKey } from '../../../storage/database/errors.ts';
import type { EventEntries } from '../../../storage/stages/event-entries.ts';
import type { Collections } from '../../../storage/database/mongo.ts';
import { idsOf, inOneBatch, insertMissing } from '../../../storage/database/batches.ts';
import { createHash } from 'node:crypto';
import type { Declared } from '../../../storage/documents/declaration.ts';
import { claimedBy, type Claim } from '../../../fan-out/store/fan-out-claim.ts';

declare module '../../../storage/repositories.ts' {
  interface Repositories {
    readonly publishing: ReturnType<typeof publishing>;
  }
}

export const PUBLICATIONS: Declared<'publications'> = {
  name: 'publications',
  holds: 'the action that an idempotency key has made',
  ids: {},
  indexes: [],
  shard: { key: { _id: 1 }, serves: 'an idempotency key; ids are hashes and therefore spread evenly' },
  erase: ['ACTIONS'],
  export: { because: 'a hash of what the actions say' },
  action: { because: 'an action with an idempotency key leaves a tombstone; made again when it comes back' },
};

interface Keyed {
  readonly actorId: string;
  readonly idempotencyKey: string;
}

/** An action as far as it tells which publication made it. */
export interface Published {
  readonly _id: ObjectId;
  readonly actorId: string;
  readonly idempotencyKey?: string;
}

/** A hash that reveals neither actor nor key and spreads evenly over shards. */
export function publicationId({ actorId, idempotencyKey }: Keyed): string {
  return createHash('sha256')
    .update(JSON.stringify([actorId, idempotencyKey]))
    .digest('base64url');
}

export function isKeyed<D extends { readonly idempotencyKey?: string }>(
  document: D,
): document is D & { readonly idempotencyKey: string } {
  return document.idempotencyKey !== undefined;
}

/**
 * Assigns each action the id belonging to its idempotency key: its own for a new key, otherwise the id of the first attempt.
 * Written before the action, whose insert is the commit point: if interrupted in between, the next attempt inserts the
 * action under the same id. So keys are unique without a unique index on actions. One round trip if an action has a key, two
 * if a key is known.
 * @returns the documents in their order, and which of them have a known key.
 */
async function fixIds(
  publications: Collections['publications'],
  documents: readonly ActionDocument[],
  insertKeys: (claims: readonly PublicationDocument[]) => Promise<ReadonlySet<PublicationDocument>>,
): Promise<{ readonly fixed: ActionDocument[]; readonly known: ReadonlySet<ActionDocument> }> {
  const claims = documents
    .filter(isKeyed)
    .map((document) => ({ _id: publicationId(document), actionId: document._id }));
  const known = new Map<string, ObjectId>();
  const there = claims.length === 0 ? null : await insertKeys(claims);
  const refused = claims.flatMap((claim) => (there?.has(claim) === true ? claim._id : []));
  if (refused.length > 0)
    for (const { _id, actionId } of await publications.find({ _id: { $in: refused } }).toArray())
      known.set(_id, actionId);
  const replayed = new Set<ActionDocument>();
  const fixed = documents.map((document) => {
    const first = isKeyed(document) ? known.get(publicationId(document)) : undefined;
    if (first === undefined || first.equals(document._id)) return document;
    const renumbered = { ...document, _id: first };
    replayed.add(renumbered);
    return renumbered;
  });
  return { fixed, known: replayed };
}

/**
 * Records the ids of keys.
 * @param how `$set` replaces existing records; `$setOnInsert` keeps them: another action may have been published under a key
 * meanwhile
 */
export async function notePublications(
  publications: Collections['publications'],
  actions: readonly (Keyed & Published)[],
  how: '$set' | '$setOnInsert',
): Promise<void> {
  if (actions.length === 0) return;
  const operations = actions.map((action) => ({
    updateOne: {
      filter: { _id: publicationId(action) },
      update: { [how]: { actionId: action._id } },
      upsert: true,
    },
  }));
  await retryOnDuplicateKey(() => publications.bulkWrite(operations, { ordered: false }));
}

/** Deletes the records of these keys. */
export async function forgetPublications(
  publications: Collections['publications'],
  actions: readonly Keyed[],
): Promise<void> {
  if (actions.length === 0) return;
  await publications.deleteMany({ _id: { $in: actions.map(publicationId) } });
}

/** Actions per insert, also of calls at the same time: serialising several MB blocks the event loop. */
const INSERTED_AT_ONCE = 100;
/** An id older than this was assigned by an interrupted attempt. */
const LATE_AFTER_MS = 2_000;
/** Delay of the first pass of an action whose id is older than the action. */
const LATE_GRACE_MS = 5_000;

export interface InsertedAction {
  readonly action: Action;
  /** The action already existed, with the same actor and idempotency key. */
  readonly isReplay: boolean;
}

/** In the order of the input, with what these inserts have claimed. */
export interface InsertedActions {
  readonly inserted: readonly InsertedAction[];
  readonly claims: readonly Claim[];
}

/** Identifies a publication: its actor and the actor's own key for it. */
export interface PublicationKey {
  readonly actorId: UserId;
  /** `null`: none, so that it is never a replay. */
  readonly idempotencyKey: string | null;
}

/** Called with the held ones of the actions that are about to be inserted. */
type QueueHeld = (held: readonly Action[]) => Promise<unknown>;

/** Inserts actions. Part of the repository of actions. */
export function publishing({ actions, publications }: Collections, events: EventEntries) {
  /** The stored ones among these, by id. */
  async function storedOf(documents: readonly ActionDocument[]): Promise<Stored> {
    if (documents.length === 0) return NONE_STORED;
    const stored = await inOneBatch(
      actions.find({ _id: { $in: documents.map(({ _id }) => _id) } }),
      documents.length,
    );
    const byId = new Map(stored.map((action) => [action._id.toHexString(), action]));
    return ({ _id }) => byId.get(_id.toHexString());
  }

  async function insertSome(
    some: readonly NewAction[],
    queue: QueueHeld,
    claim: NewClaim | null,
  ): Promise<InsertedActions> {
    const { fixed, known } = await fixIds(
      publications,
      some.map((action) => newActionDocument(action, events, claim)),
      insertKeys,
    );
    const stored = await storedOf([...known]);
    const documents = fixed.map((document) => (known.has(document) ? keptBack(document) : document));
    const fresh = documents.filter((document) => stored(document) === undefined);
    await queue(fresh.filter(({ isHidden, publishAt }) => isHidden && publishAt === undefined).map(toAction));
    const overtaken = fresh.length === 0 ? NONE_OVERTAKEN : await insertAll(fresh);
    const overtakenBy = await storedOf(fresh.filter((document) => overtaken.has(document)));
    const inserted = documents.map((document) => {
      const before = stored(document) ?? (overtaken.has(document) ? overtakenBy(document) : undefined);
      if (before === undefined && overtaken.has(document))
        throw new Error('A duplicate key without an action that has it');
      return { action: toAction(before ?? document), isReplay: before !== undefined };
    });
    const isOwn = (document: ActionDocument): boolean => !overtaken.has(document);
    return { inserted, claims: claimedBy(claim, fresh.filter(isOwn)) };
  }

  const insertKeys = gathered(
    (lists: readonly (readonly PublicationDocument[])[]) =>
      insertMissing(publications, lists.flat(), ({ _id }) => _id),
    { most: INSERTED_AT_ONCE, sizeOf: ({ length }) => length },
  );
  /** Returns those whose id an action has already. */
  const insertAll = gathered(
    (lists: readonly (readonly ActionDocument[])[]) =>
      insertMissing(actions, lists.flat(), ({ _id }) => _id.toHexString()),
    { most: INSERTED_AT_ONCE, sizeOf: ({ length }) => length },
  );

  return {
    /**
     * Finds publications that were recorded before, by actor and key. At most two round trips.
     * @returns in the order of the input
     */
    async published(some: readonly PublicationKey[]): Promise<readonly boolean[]> {
      const ids = some.map(({ actorId, idempotencyKey }) =>
        idempotencyKey === null ? null : publicationId({ actorId, idempotencyKey }),
      );
      const keys = ids.filter((id) => id !== null);
      if (keys.length === 0) return ids.map(() => false);
      const claims = await publications.find({ _id: { $in: keys } }).toArray();
      const stored = await idsOf(actions.find({ _id: { $in: claims.map(({ actionId }) => actionId) } }));
      const there = new Set(stored.map((id) => id.toHexString()));
      const known = new Set(
        claims.filter(({ actionId }) => there.has(actionId.toHexString())).map(({ _id }) => _id),
      );
      return ids.map((id) => id !== null && known.has(id));
    },

    /**
     * Inserts the actions, or returns the existing ones with the same actor and idempotency key. One round trip per hundred;
     * two with a key, three on replay.
     * @param claim by which those of the lane LIVE are claimed; `null`: none are.
     */
    async insert(
      some: readonly NewAction[],
      queue: QueueHeld,
      claim: NewClaim | null,
    ): Promise<InsertedActions> {
      const parts = await inSlices(some, INSERTED_AT_ONCE, (few) => insertSome(few, queue, claim));
      return {
        inserted: parts.flatMap(({ inserted }) => inserted),
        claims: parts.flatMap(({ claims }) => claims),
      };
    },
  };
}

type Stored = (document: ActionDocument) => ActionDocument | undefined;
const NONE_STORED: Stored = () => undefined;
const NONE_OVERTAKEN: ReadonlySet<ActionDocument> = new Set();

/**
 * An action that completes a long interrupted attempt has an id older than itself, so `addressedSince` does not find it. Its
 * pass therefore waits until members who were just joining a group are stored.
 */
function keptBack(document: ActionDocument): ActionDocument {
  const { _id, recorded, fanOut } = document;
  if (recorded.getTime() - _id.getTimestamp().getTime() <= LATE_AFTER_MS) return document;
  const { worker: _worker, begun: _begun, ...unclaimed } = fanOut;
  const leaseUntil = new Date(recorded.getTime() + LATE_GRACE_MS);
  return { ...document, fanOut: { ...unclaimed, state: 'PENDING', attempts: 0, leaseUntil } };
}
