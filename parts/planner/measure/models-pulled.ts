import { ObjectId } from 'mongodb';
import type { RefDocument } from '../../../src/storage/documents/directory-documents.ts';
import type { ActionDocument } from '../../../src/storage/documents/documents.ts';
import { load, type RawWorld } from '../../../bench/world/raw.ts';

const DAY = 86_400_000;

export function bigRefId(index: number): string {
  return `site-big-${String(index).padStart(4, '0')}`;
}

/** Refs with so many followers, as the worker leaves them that chooses which are pulled: some are, since yesterday. */
export async function loadBigRefs(
  { db }: RawWorld,
  refIds: readonly string[],
  options: { readonly followers: number; readonly isPulled: boolean },
): Promise<void> {
  const refs = db.collection<RefDocument>('refs');
  await refs.insertMany(
    refIds.map((_id) => ({
      _id,
      type: 'site',
      label: `Site ${_id}`,
      version: 1,
      propagated: 1,
      followerCount: options.followers,
      ...(options.isPulled ? { isPulled: true, pullSince: new Date(Date.now() - DAY) } : {}),
    })),
  );
}

/** Loads copies of an action that the server wrote, so many of each ref. Those of a ref are evenly apart, up to now. */
export async function loadSpreadActions(
  { actions }: RawWorld,
  template: ActionDocument,
  refIds: readonly string[],
  options: { readonly each: number; readonly apartMs: number; readonly isPulled: boolean },
): Promise<readonly ActionDocument[]> {
  const newest = Date.now();
  const made = Array.from({ length: refIds.length * options.each }, (_, index): ActionDocument => {
    const which = index % refIds.length;
    const refId = refIds[which] ?? '';
    // Each ref a little later than the one before, so that they take turns.
    const back = Math.floor(index / refIds.length) + (which + 1) / (refIds.length + 1);
    const time = new Date(Math.floor(newest - back * options.apartMs));
    return {
      ...template,
      _id: new ObjectId(),
      conducted: time,
      recorded: time,
      latest: time,
      refs: [{ id: refId, type: 'site', label: `Site ${refId}` }],
      refIds: [refId, template.actorId],
      ...(options.isPulled ? { pullRefIds: [refId] } : {}),
    };
  });
  await load(actions, made.length, (index) => made[index] ?? template);
  return made;
}

/** One reader's follows of all these refs, for as long as their actions go back. */
export function loadFollowing(
  { follows }: RawWorld,
  followerId: string,
  refIds: readonly string[],
): Promise<void> {
  const since = new Date(0);
  return load(follows, refIds.length, (index) => ({
    _id: new ObjectId(),
    followerId,
    refId: refIds[index] ?? '',
    active: true,
    spans: [{ since }],
  }));
}
