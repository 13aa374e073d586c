import type { Action } from '../../domain/action.ts';
import { type NewsfeedItem, lifted, boostOf } from '../../domain/newsfeed-item.ts';
import { baseRelevancy, type RelevancyReader } from '../../domain/relevancy.ts';
import { addressedReasons, isPulledFor, mustAskFollows, mutesPasser } from '../../domain/visibility.ts';
import { turn } from '../../lib/turn.ts';
import type { EntryEvent, LiveEvent } from '../../live/live-log.ts';
import type { Identity, ReaderProfile } from '../../domain/viewer.ts';
import { mayBeWithheldNow, presentEntry, type EntryFacts } from '../page/feed-rules.ts';
import { followsOf, hydrate, learnOfActions } from '../page/hydration.ts';
import {
  type CheckedFeedFilter,
  type KnownForFilter,
  learnForFilter,
  needsMore,
  NOTHING_KNOWN,
  passesFeedFilter,
} from '../page/filters.ts';
import { readerOf } from '../page/views.ts';
import type { ReadForEvents } from '../session/event-sessions.ts';
import type { EventReaderSession, ReaderSession } from '../session/reader-session.ts';
import type { FeedEvent } from '../../core/shapes.ts';
import type { RelevancyNow, SharedBoosts } from './shared-boosts.ts';
import type { EventMessage, KnownWatcher, SharedFacts, WatchRules } from './shared-decisions.ts';
import { loadFollows } from '../loads/own-follows.ts';

/** An item sent to a watcher. Its session is opened only if more data is needed, which is rare. */
class ItemEvent {
  readonly kind: 'added' | 'updated';
  readonly cursor: string;
  readonly item: NewsfeedItem;
  readonly #open: () => EventReaderSession;

  constructor(kind: ItemEvent['kind'], cursor: string, item: NewsfeedItem, open: () => EventReaderSession) {
    this.kind = kind;
    this.cursor = cursor;
    this.item = item;
    this.#open = open;
  }

  get session(): ReaderSession {
    return this.#open();
  }
}

/**
 * What a watcher receives for each of these events; `null`: nothing. An event only says which item to examine. Whether and
 * where the item is in the list is decided from current data: if two events arrive in the wrong order, both report the newer
 * state. One set of queries for all events.
 */
async function decideEvents(
  boosts: SharedBoosts,
  session: EventReaderSession,
  filter: CheckedFeedFilter,
  messages: readonly EventMessage[],
): Promise<(FeedEvent | null)[]> {
  const entries = messages.flatMap(({ event }) => (isOfEntry(event) ? [event] : []));
  const lookUp = async (): Promise<ReaderProfile> => readerOf(await session.profile(), filter);
  const facts = await hydrate(session, lookUp, entries);
  const visible = facts.flatMap(({ action }) => (action === null || isGone(action) ? [] : [action]));
  const relevancyNow = await boosts(visible);
  const shown = new Map<EntryEvent, NewsfeedItem | null>();
  const withheld = new Set<EntryEvent>();
  let known: KnownForFilter = NOTHING_KNOWN;
  if (entries.length > 0) {
    // Pulled follows in a cached profile may be outdated.
    const isPulled = visible.some(({ pullRefIds }) => pullRefIds.length > 0);
    const profile = readerOf(await (isPulled ? session.freshProfile() : session.profile()), filter);
    const items = await Promise.all(
      facts.map((known, index) => itemNow(session, { profile, relevancyNow }, known, entries[index], filter)),
    );
    known = await learnForFilter(
      session,
      filter,
      items.filter((item) => item !== null),
    );
    entries.forEach((event, index) => {
      shown.set(event, items[index] ?? null);
      const action = facts[index]?.action ?? null;
      if (action !== null && !isGone(action) && mayBeWithheldNow(profile, action)) withheld.add(event);
    });
  }
  const reader = { identity: session.identity, open: () => session };
  return messages.map(({ cursor, event }) =>
    !isOfEntry(event)
      ? resyncOf(cursor, event)
      : notify(reader, filter, {
          cursor,
          event,
          known,
          shown: shown.get(event) ?? null,
          isWithheldNow: withheld.has(event),
        }),
  );
}

/** Whether it is about an entry of a list. */
export function isOfEntry(event: LiveEvent): event is EntryEvent {
  return event.kind === 'added' || event.kind === 'updated' || event.kind === 'removed';
}

/** A feed has nothing to do with notifications. */
function resyncOf(cursor: string, event: Exclude<LiveEvent, EntryEvent>): FeedEvent | null {
  return event.kind === 'list' ? { kind: 'resync', cursor, reason: event.change } : null;
}

/** The facts that decide events of feeds. */
export interface FeedFacts extends SharedFacts {
  readonly boosts: SharedBoosts;
  readonly relevancyNow: RelevancyNow;
}

/** The actions of these events, and how far they are lifted. */
export function feedFacts(
  boosts: SharedBoosts,
  read: ReadForEvents,
): (events: readonly LiveEvent[]) => Promise<FeedFacts> {
  return async (events) => {
    const reads = await read(events.flatMap((event) => (isOfEntry(event) ? event.actionId : [])));
    const actions = [...reads.actions.values()].filter((action) => action !== null);
    return { reads, boosts, relevancyNow: await boosts(actions.filter((action) => !isGone(action))) };
  };
}

/** Those of one feed or view. */
export class FeedRules implements WatchRules<FeedEvent, FeedFacts> {
  readonly #filter: CheckedFeedFilter;

  constructor(filter: CheckedFeedFilter) {
    this.#filter = filter;
  }

  atOnce(facts: FeedFacts, reader: KnownWatcher, messages: readonly EventMessage[]) {
    return decideAtOnce(facts, reader, this.#filter, messages);
  }

  inSession({ boosts }: FeedFacts, session: EventReaderSession, messages: readonly EventMessage[]) {
    return decideEvents(boosts, session, this.#filter, messages);
  }
}

/** The same without any further reads for the reader; `null`: reads are necessary. */
function decideAtOnce(
  { reads, relevancyNow }: FeedFacts,
  reader: KnownWatcher,
  filter: CheckedFeedFilter,
  messages: readonly EventMessage[],
): readonly (FeedEvent | null)[] | null {
  const profile = readerOf(reader.profile, filter);
  if (needsMore(filter) || profile.hasMarks || profile.checksFollows || profile.mutes.phrases.size > 0)
    return null;
  const decided: (FeedEvent | null)[] = [];
  for (const { cursor, event } of messages) {
    if (!isOfEntry(event)) {
      decided.push(resyncOf(cursor, event));
      continue;
    }
    const read = reads.actions.get(event.actionId) ?? null;
    const action = read === null || isGone(read) ? null : read;
    if (action !== null && !isKnown(profile, action, event, relevancyNow)) return null;
    const item = action === null ? null : presentKnown(profile, action, event, { relevancyNow, filter });
    decided.push(
      notify(reader, filter, {
        cursor,
        event,
        known: NOTHING_KNOWN,
        shown: item,
        isWithheldNow: item === null && action !== null && mayBeWithheldNow(profile, action),
      }),
    );
  }
  return decided;
}

/** Whether the event and the profile contain everything that makes up the item. */
function isKnown(
  profile: ReaderProfile,
  action: Action,
  { kind, reasons }: EntryEvent,
  relevancyNow: RelevancyNow,
): boolean {
  return (
    // Pulled follows in a cached profile may be outdated.
    action.pullRefIds.length === 0 &&
    kind !== 'removed' &&
    reasons.length > 0 &&
    !mustAskFollows(action) &&
    profile.blocks.knows(action.actorId) &&
    !mutesPasser(profile, action) &&
    relevancyNow.boosterRefs(action, profile).length === 0
  );
}

function presentKnown(
  profile: ReaderProfile,
  action: Action,
  { actionId, reasons }: EntryEvent,
  { relevancyNow, filter }: { readonly relevancyNow: RelevancyNow; readonly filter: CheckedFeedFilter },
): NewsfeedItem | null {
  const relevancy = relevancyNow.of(action, placed(profile));
  const entry = { actionId, relevancy, reasons };
  return presentEntry(profile, { entry, action, mark: null, follows: null }, filter.state);
}

/** The facts that place an action for the reader, besides their follows. */
function placed({ userId, member, blocks }: ReaderProfile): RelevancyReader & Pick<ReaderProfile, 'blocks'> {
  return { ...(member ?? { userId, departmentId: null, supervisorId: null }), blocks };
}

/** Data shared by the events that are decided together. */
interface Deciding {
  readonly profile: ReaderProfile;
  readonly relevancyNow: RelevancyNow;
}

/** The item as currently in the feed; `null`: not in the feed. */
async function itemNow(
  session: ReaderSession,
  { profile, relevancyNow }: Deciding,
  facts: EntryFacts,
  event: EntryEvent | undefined,
  filter: CheckedFeedFilter,
): Promise<NewsfeedItem | null> {
  const { action, entry } = facts;
  if (action === null || isGone(action)) return null;
  const boosters = relevancyNow.boosterRefs(action, profile);
  const relevancy = lifted(
    relevancyNow.of(action, {
      ...placed(profile),
      follows: boosters.length === 0 ? [] : await loadFollows(session, boosters),
    }),
    boostOf(facts.mark),
  );
  // The event has the reasons for the delivery, except for pulled items and items that come back.
  const isAsDelivered =
    event?.kind !== 'removed' && entry.reasons.length > 0 && !isPulledFor(profile, action);
  const follows = isAsDelivered ? [] : (facts.follows ?? (await followsOf(session, [action])));
  await learnOfActions(session, profile, [action], follows);
  const reasons = isAsDelivered ? entry.reasons : addressedReasons(profile, action, follows);
  const now = { ...facts, entry: { actionId: entry.actionId, relevancy, reasons } };
  // Matching phrases in long texts takes time, so other work gets its turn.
  if (profile.mutes.phrases.size > 0 && turn.isOver()) await turn.next();
  return presentEntry(profile, now, filter.state);
}

function notify(
  { identity, open }: { readonly identity: Identity; readonly open: () => EventReaderSession },
  filter: CheckedFeedFilter,
  {
    cursor,
    event,
    known,
    shown,
    isWithheldNow,
  }: {
    readonly cursor: string;
    readonly event: EntryEvent;
    readonly known: KnownForFilter;
    readonly shown: NewsfeedItem | null;
    readonly isWithheldNow: boolean;
  },
): FeedEvent | null {
  const { kind, actionId } = event;
  const removed = (): FeedEvent => ({ kind: 'removed', cursor, userId: identity.userId, actionId });
  const isOfFeed = filter.state === null;
  // An item that comes back to the feed leaves the list of its state.
  if (shown === null) return kind === 'removed' || !isOfFeed || isWithheldNow ? removed() : null;
  if (passesFeedFilter(filter, shown, known, filter.view?.order))
    return new ItemEvent(shownAs(kind, isOfFeed), cursor, shown, open);
  return kind === 'removed' || mayHavePassed(filter, kind, shown, known) ? removed() : null;
}

/** A removed item that is in the list again by now, or has moved to the list of a state. */
function shownAs(kind: EntryEvent['kind'], isOfFeed: boolean): 'added' | 'updated' {
  if (kind !== 'removed') return kind;
  return isOfFeed ? 'updated' : 'added';
}

/** Whether an item that the filter rejects now may have passed it before, at its old position, or as it was then. */
function mayHavePassed(
  { asked, view }: CheckedFeedFilter,
  kind: EntryEvent['kind'],
  item: NewsfeedItem,
  known: KnownForFilter,
): boolean {
  const { action, relevancy } = item;
  const hasMoved = relevancy.getTime() > baseRelevancy(action).getTime();
  const isEdited = action.version > 1;
  const mayHaveChanged =
    kind === 'updated' && asked.some(({ row }) => row.mayHavePassed === 'BEFORE_A_CHANGE');
  if (!hasMoved && !isEdited && !mayHaveChanged) return false;
  const held = asked.filter(
    ({ row }) => row.mayHavePassed === 'NEVER' || (row.mayHavePassed === 'BEFORE_AN_EDIT' && !isEdited),
  );
  return passesFeedFilter({ asked: held }, item, known, view?.order);
}

export function isGone({ isDeleted, isHidden }: Action): boolean {
  return isDeleted || isHidden;
}
