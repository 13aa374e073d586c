import { ObjectId } from 'mongodb';
import { clock } from '../../lib/clock.ts';
import { idOfTime } from '../database/database-time.ts';
import { interactionKey, isToggle } from '../../domain/interaction.ts';
import type { InteractionDocument } from '../documents/documents.ts';
import { isDuplicateKey } from '../database/errors.ts';
import type { Collections } from '../database/mongo.ts';
import type { Migration } from './migration.ts';

/**
 * Migrates interactions recorded under keys without a kind. Of several likes or reshares by one member the first is kept,
 * since only one counts; the others are removed, and keep their boosts.
 */
export const interactionKeys: Migration = {
  version: 1,
  name: 'name the kind in the keys of interactions',
  async batch({ interactions }, after, limit) {
    const documents = await interactions
      .find(after === null ? {} : { _id: { $gt: new ObjectId(after) } })
      .sort({ _id: 1 })
      .limit(limit)
      .toArray();
    for (const document of documents)
      if (document.keyForm === undefined) await bringOver(interactions, document);
    const last = documents.length < limit ? undefined : documents.at(-1);
    return { looked: documents.length, after: last?._id.toHexString() ?? null };
  },
};

async function bringOver(
  interactions: Collections['interactions'],
  document: InteractionDocument,
): Promise<void> {
  const { _id, actionId, kind, actorId } = document;
  const idempotencyKey = formerKeyOf(document);
  const named = isErased(document) ? null : interactionKey({ kind, actorId, reaction: null, idempotencyKey });
  const key = named ?? document.key;
  const isKeyed = isToggle(kind) && idempotencyKey !== null;
  const replayKeys = isKeyed ? { replayKeys: [idempotencyKey] } : {};
  try {
    await interactions.updateOne({ _id }, { $set: { key, keyForm: 2, ...replayKeys } });
    return;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
  const holder = await interactions.findOne({ actionId, key });
  if (holder !== null && holder.keyForm === undefined) {
    // Migrate a key of the old form that collides with the new form first.
    await bringOver(interactions, holder);
    return bringOver(interactions, document);
  }
  if (holder !== null && isKeyed)
    await interactions.updateOne({ _id: holder._id }, { $addToSet: { replayKeys: idempotencyKey } });
  // Upkeep settles them, which recounts the action's interactions.
  const removed = { state: 'REMOVED', stateAt: clock.now(), settling: idOfTime(clock.now()) } as const;
  await interactions.updateOne(
    { _id },
    { $set: { key: _id.toHexString(), keyForm: 2, ...(holder === null ? {} : removed) } },
  );
}

/** The idempotency key in an old key, which was `[actor, idempotency key]`; `null`: none. */
function formerKeyOf({ key }: InteractionDocument): string | null {
  if (!key.startsWith('[')) return null;
  const parts: unknown = JSON.parse(key);
  const idempotencyKey: unknown = Array.isArray(parts) ? parts[1] : undefined;
  return typeof idempotencyKey === 'string' ? idempotencyKey : null;
}

/** After an erasure the key is the interaction's own id, which reveals nothing. */
function isErased({ _id, key }: InteractionDocument): boolean {
  return key === _id.toHexString();
}
