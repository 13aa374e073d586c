import { isMutedAction } from '../../descriptors/muted-action.ts';
import type { Action } from '../../domain/action.ts';
import { isMutedMember } from '../../domain/mute.ts';
import type { NewsfeedItem } from '../../domain/newsfeed-item.ts';
import { lifted, boostOf } from '../../domain/item-mark.ts';
import { baseRelevancy } from '../../domain/relevancy.ts';
import { addressedReasons, isPulledFor, mutesPasser } from '../../domain/visibility.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import { Turn } from '../../lib/turn.ts';
import type { EntryEvent, LiveMessage } from '../../realtime/live-log.ts';
import { presentEntry, type EntryFacts } from './feed-rules.ts';
import { followsOf, hydrateEntries, loadFollows } from './hydration.ts';
import { listedState, passesFeedFilter, type CheckedFeedFilter } from './filters.ts';
import type { EventReaderSession, ReaderSession, Sighting } from '../session/reader-session.ts';
import type { FeedEvent } from '../shapes.ts';
import type { RelevancyNow, SharedBoosts } from './shared-boosts.ts';

/** A message of the log that is an event. */
export type EventMessage = Extract<LiveMessage, { kind: 'event' }>;

/** An item that is shown, and the read of its action. */
interface Shown {
  readonly item: NewsfeedItem;
  readonly sighting: Sighting;
}

export interface DecideDependencies {
  readonly boosts: SharedBoosts;
}

/**
 * What a watcher is sent for each of these events; null: nothing. The event only says which item to look at. Whether and
 * where the item stands is decided from what is so now: of two events that come in the wrong order both tell the newer
 * state. One set of queries for all of them.
 */
export async function decideEvents(
  { boosts }: DecideDependencies,
  session: EventReaderSession,
  filter: CheckedFeedFilter,
  messages: readonly EventMessage[],
): Promise<(FeedEvent | null)[]> {
  const entries = messages.flatMap(({ event }) => (event.kind === 'list' ? [] : [event]));
  const facts = await hydrateEntries(session, () => session.profile(), entries);
  const visible = facts.flatMap(({ action }) => (action === null || isGone(action) ? [] : [action]));
  const relevancyNow = await boosts(visible);
  const shown = new Map<EntryEvent, Shown | null>();
  const muted = new Set<EntryEvent>();
  if (entries.length > 0) {
    // Of what is kept in mind of a reader, the pulled follows may be outdated.
    const isPulled = visible.some(({ pullRefIds }) => pullRefIds.length > 0);
    const profile = await (isPulled ? session.freshProfile() : session.profile());
    const turn = new Turn();
    const items = await Promise.all(
      facts.map((known, index) =>
        itemNow(session, { profile, relevancyNow, turn }, known, entries[index], filter),
      ),
    );
    const sightings = await Promise.all(entries.map(({ actionId }) => session.sightings.load(actionId)));
    entries.forEach((event, index) => {
      const item = items[index] ?? null;
      const sighting = sightings[index] ?? null;
      shown.set(event, item === null || sighting === null ? null : { item, sighting });
      if (mayBeMutedNow(profile, facts[index]?.action ?? null)) muted.add(event);
    });
  }
  if (messages.length > 1) session.expectNames([...new Set(visible.flatMap(({ refIds }) => refIds))]);
  return messages.map(({ cursor, event }) => {
    if (event.kind === 'list') {
      // Only a list of what is unread goes by what is marked as read.
      if (event.change === 'marks' && !filter.unreadOnly) return null;
      return { kind: 'resync', cursor, reason: event.change };
    }
    return tell(session, filter, {
      cursor,
      event,
      shown: shown.get(event) ?? null,
      isMutedNow: muted.has(event),
    });
  });
}

/** What the events that are decided together have in common. */
interface Deciding {
  readonly profile: ReaderProfile;
  readonly relevancyNow: RelevancyNow;
  readonly turn: Turn;
}

/** The item as the feed has it now; null where it is not in the feed. */
async function itemNow(
  session: ReaderSession,
  { profile, relevancyNow, turn }: Deciding,
  facts: EntryFacts,
  event: EntryEvent | undefined,
  filter: CheckedFeedFilter,
): Promise<NewsfeedItem | null> {
  const { action, entry } = facts;
  if (action === null || isGone(action)) return null;
  const { userId, member } = profile;
  const lifters = relevancyNow.liftersOf(action, profile);
  const relevancy = lifted(
    relevancyNow.of(action, {
      ...(member ?? { userId, departmentId: null, supervisorId: null }),
      follows: lifters.length === 0 ? [] : await loadFollows(session, lifters),
    }),
    boostOf(facts.mark),
  );
  // What the event says is why the item was delivered. One that is pulled, or is back, was not delivered for it.
  const isAsDelivered =
    event?.kind !== 'removed' && entry.reasons.length > 0 && !isPulledFor(profile, action);
  const reasons = isAsDelivered
    ? entry.reasons
    : addressedReasons(profile, action, facts.follows ?? (await followsOf(session, [action])));
  const now = { ...facts, entry: { actionId: entry.actionId, relevancy, reasons } };
  // To look for phrases in long texts takes time. Once others had theirs, one after the other goes on.
  while (profile.mutes.phrases.size > 0 && turn.isOver()) await turn.next();
  return presentEntry(profile, now, listedState(filter));
}

function tell(
  session: ReaderSession,
  filter: CheckedFeedFilter,
  {
    cursor,
    event,
    shown,
    isMutedNow,
  }: {
    readonly cursor: string;
    readonly event: EntryEvent;
    readonly shown: Shown | null;
    readonly isMutedNow: boolean;
  },
): FeedEvent | null {
  const { kind, actionId } = event;
  const removed = { kind: 'removed', cursor, userId: session.identity.userId, actionId } as const;
  const isOfFeed = listedState(filter) === null;
  // What comes back into the feed leaves the list of what was put away.
  if (shown === null) return kind === 'removed' || !isOfFeed || isMutedNow ? removed : null;
  const { item, sighting } = shown;
  if (passesFeedFilter(filter, item))
    return { kind: shownAs(kind, isOfFeed), cursor, item, session, sighting };
  return kind === 'removed' || mayHavePassed(filter, kind, item) ? removed : null;
}

/** What left the feed is there again by now, or has come into the list of what was put away. */
function shownAs(kind: EntryEvent['kind'], isOfFeed: boolean): 'added' | 'updated' {
  if (kind !== 'removed') return kind;
  return isOfFeed ? 'updated' : 'added';
}

/** Whether an item that the filter keeps out now was let through where it stood, or for what it was there, before. */
function mayHavePassed(filter: CheckedFeedFilter, kind: EntryEvent['kind'], item: NewsfeedItem): boolean {
  const isMoved = item.relevancy.getTime() > baseRelevancy(item.action).getTime();
  const isEdited = item.action.version > 1;
  const isKnown = isMoved || isEdited || (kind === 'updated' && filter.reasons !== null);
  const before = { ...filter, since: null, until: null, unreadOnly: false, reasons: null };
  const edited = isEdited ? { tag: null, tags: null, refId: null } : {};
  return isKnown && passesFeedFilter({ ...before, ...edited }, item);
}

/**
 * Whether a mute may have taken effect on what was in the list before: an edit has changed its refs or its words, or of
 * members who passed it on those remain whom the reader mutes.
 */
function mayBeMutedNow(profile: ReaderProfile, action: Action | null): boolean {
  if (action === null || isGone(action)) return false;
  const { mutes } = profile;
  if (isMutedMember(mutes, action.actorId) || mutes.types.has(action.descriptor.type)) return false;
  return mutesPasser(profile, action) || (action.version > 1 && isMutedAction(mutes, action));
}

function isGone({ isDeleted, isHidden }: Action): boolean {
  return isDeleted || isHidden;
}
