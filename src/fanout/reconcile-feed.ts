import type { Action, UserId } from '../domain/action.ts';
import { departmentKey, teamKey, userKey } from '../domain/audience.ts';
import type { FeedEntry, FeedPosition } from '../domain/newsfeed-item.ts';
import { addressedReasons } from '../domain/visibility.ts';
import { profileOfMember, type Follow, type ReaderProfile } from '../domain/viewer.ts';
import type { FeedStore } from '../feeds/feed-store.ts';
import type { ActionsRepository } from '../storage/actions.ts';
import type { FollowsRepository } from '../storage/follows.ts';
import { announce, removals, type AnnounceDependencies } from './announce.ts';
import { fillFeed, type FillFeedDependencies } from './fill-feed.ts';
import { placing, type PlacingDependencies } from './placing.ts';

export interface ReconcileDependencies extends AnnounceDependencies, PlacingDependencies {
  readonly feedStore: Pick<FeedStore, 'page' | 'remove' | 'fill'>;
  readonly actions: Pick<ActionsRepository, 'findByIds' | 'candidatesFor'>;
  readonly fanOuts: FillFeedDependencies['fanOuts'];
  readonly follows: Pick<FollowsRepository, 'all'>;
}

/** Stored entries looked at in one go. */
const CHUNK = 500;

/** What decides which actions belong into one reader's feed. */
interface Standing {
  readonly reader: ReaderProfile;
  readonly follows: readonly Follow[];
}

/**
 * Removes from a reader's stored feed what does not belong there, and puts every entry where it belongs, also when that
 * is lower. Costs four round trips per 500 stored entries, and four more where something is to be changed.
 */
export async function sweepFeed(dependencies: ReconcileDependencies, userId: UserId): Promise<void> {
  const standing = await standingOf(dependencies, userId);
  let after: FeedPosition | undefined;
  for (;;) {
    const stored = await dependencies.feedStore.page({
      userId,
      limit: CHUNK,
      ...(after === undefined ? {} : { after }),
    });
    const wanted = await wantedEntries(
      dependencies,
      standing,
      stored.map((entry) => entry.actionId),
    );
    const changed = stored.filter((entry) => !isSame(entry, wanted.get(entry.actionId)));
    if (changed.length > 0) await replace(dependencies, userId, changed, wanted);
    if (stored.length < CHUNK) return;
    after = stored.at(-1);
  }
}

/**
 * Makes a reader's stored feed what the definition says: sweeps it, then adds what is missing from the actions
 * themselves. Reads every action that was ever for one of the reader's groups or follows, 500 at a time.
 */
export async function rebuildFeed(dependencies: ReconcileDependencies, userId: UserId): Promise<void> {
  await sweepFeed(dependencies, userId);
  const standing = await standingOf(dependencies, userId);
  const { member } = standing.reader;
  const audience = [
    userKey(userId),
    ...(member?.teamId == null ? [] : [teamKey(member.teamId)]),
    ...(member?.departmentId == null ? [] : [departmentKey(member.departmentId)]),
  ];
  const refIds = standing.follows.filter((follow) => follow.spans.length > 0).map((follow) => follow.refId);
  for await (const candidates of dependencies.actions.candidatesFor(audience, refIds)) {
    const entries = await entriesOf(dependencies, standing, candidates);
    await fillFeed(dependencies, userId, entries);
  }
}

async function standingOf({ members, follows }: ReconcileDependencies, userId: UserId): Promise<Standing> {
  const [found, all] = await Promise.all([members.findByIds([userId]), follows.all(userId)]);
  const [member] = found;
  const nobody = {
    userId,
    name: userId,
    teamId: null,
    teamSince: null,
    departmentId: null,
    departmentSince: null,
    supervisorId: null,
  };
  return { reader: profileOfMember(member ?? nobody), follows: all };
}

async function wantedEntries(
  dependencies: ReconcileDependencies,
  standing: Standing,
  actionIds: readonly string[],
): Promise<Map<string, FeedEntry>> {
  if (actionIds.length === 0) return new Map();
  const actions = await dependencies.actions.findByIds(actionIds);
  const entries = await entriesOf(dependencies, standing, actions);
  return new Map(entries.map((entry) => [entry.actionId, entry]));
}

/** The entries of those of the actions that are addressed to the reader. */
async function entriesOf(
  dependencies: ReconcileDependencies,
  { reader, follows }: Standing,
  actions: readonly Action[],
): Promise<FeedEntry[]> {
  const place = await placing(dependencies, actions, [reader.userId]);
  return actions.flatMap((action) => {
    if (action.isHidden || action.isDeleted) return [];
    const reasons = addressedReasons(reader, action, follows);
    return reasons.length === 0 ? [] : [place(reader.userId, action, reasons)];
  });
}

function isSame(stored: FeedEntry, wanted: FeedEntry | undefined): boolean {
  return (
    wanted?.relevancy.getTime() === stored.relevancy.getTime() &&
    wanted.reasons.length === stored.reasons.length &&
    wanted.reasons.every((reason) => stored.reasons.includes(reason))
  );
}

/** Takes entries out and puts what is wanted in their place. */
async function replace(
  dependencies: ReconcileDependencies,
  userId: UserId,
  changed: readonly FeedEntry[],
  wanted: ReadonlyMap<string, FeedEntry>,
): Promise<void> {
  const ids = changed.map((entry) => entry.actionId);
  await dependencies.feedStore.remove(userId, ids);
  await dependencies.feedStore.fill(
    userId,
    ids.flatMap((id) => wanted.get(id) ?? []),
  );
  // A delivery that came between the reading and the removal is gone with it. What it went by was written before it,
  // so looking once more finds it.
  const now = await wantedEntries(dependencies, await standingOf(dependencies, userId), ids);
  await dependencies.feedStore.fill(userId, [...now.values()]);
  await announce(
    dependencies,
    ids.flatMap((id) => {
      const entry = now.get(id);
      return entry === undefined
        ? removals(id, [userId], new Date())
        : [{ userId, event: { kind: 'updated' as const, ...entry } }];
    }),
  );
}
