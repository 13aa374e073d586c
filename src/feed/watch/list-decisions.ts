import { isPseudonym } from '../../domain/erasure.ts';
import type { SliceEvent, ThreadEvent } from '../../core/shapes.ts';
import type { Action, ActionId } from '../../domain/action.ts';
import { isBlocked } from '../../domain/block.ts';
import { isShown, type Interaction, type InteractionId } from '../../domain/interaction.ts';
import { moderates, type Follow, type Identity, type ReaderProfile } from '../../domain/viewer.ts';
import { isEntitled, needsFollows } from '../../domain/visibility.ts';
import { inSlices } from '../../lib/turn.ts';
import type { EntryEvent, InteractionSignal, LiveEvent } from '../../live/live-log.ts';
import type { Repositories } from '../../storage/repositories.ts';
import { learnBlocks } from '../loads/own-blocks.ts';
import { passesSliceFilter, type CheckedActionFilter } from '../page/filters.ts';
import { followsOf, learnOfActions } from '../page/hydration.ts';
import type { ReadForEvents } from '../session/event-sessions.ts';
import type { EventReaderSession } from '../session/reader-session.ts';
import { isGone, isOfEntry } from './live-decisions.ts';
import type { EventMessage, KnownWatcher, SharedFacts, WatchRules } from './shared-decisions.ts';

/** The facts that decide events of slices and threads. */
export interface ListFacts extends SharedFacts {
  readonly interactions: ReadonlyMap<InteractionId, Interaction>;
}

const MOST_AT_ONCE = 500;

/** The actions and interactions of these events: two commands at the same time, one if none is about an interaction. */
export function listFacts(
  { interactions }: Repositories,
  read: ReadForEvents,
): (events: readonly LiveEvent[]) => Promise<ListFacts> {
  return async (events) => {
    const about = events.filter(isOfList);
    const ids = new Set(about.flatMap((event) => (event.kind === 'interaction' ? event.interactionId : [])));
    const found = new Map<InteractionId, Interaction>();
    const [reads] = await Promise.all([
      read(about.map(({ actionId }) => actionId)),
      inSlices([...ids], MOST_AT_ONCE, async (some) => {
        for (const interaction of await interactions.findByIds(some)) found.set(interaction.id, interaction);
      }),
    ]);
    return { reads, interactions: found };
  };
}

const isOfList = (event: LiveEvent): event is EntryEvent | InteractionSignal =>
  isOfEntry(event) || event.kind === 'interaction';

/** The facts that decide for one watcher. */
interface Deciding {
  readonly facts: ListFacts;
  readonly identity: Identity;
  readonly profile: ReaderProfile;
  readonly follows: readonly Follow[];
  readonly open: KnownWatcher['open'];
}

const NO_FOLLOWS: readonly Follow[] = [];

/** As it was before it was hidden or deleted. */
const asThere = (action: Action): Action =>
  isGone(action) ? { ...action, isHidden: false, isDeleted: false } : action;

/** The same rules for slices and threads: what is asked of the reader is known, or else loaded for all of their events. */
abstract class ListRules<E> implements WatchRules<E, ListFacts> {
  protected abstract decide(deciding: Deciding, message: EventMessage): E | null;

  atOnce(
    facts: ListFacts,
    { identity, profile, open }: KnownWatcher,
    messages: readonly EventMessage[],
  ): readonly (E | null)[] | null {
    for (const { event } of messages) if (!isKnown(facts, profile, event)) return null;
    const deciding = { facts, identity, profile, follows: NO_FOLLOWS, open };
    return messages.map((message) => this.decide(deciding, message));
  }

  async inSession(
    facts: ListFacts,
    session: EventReaderSession,
    messages: readonly EventMessage[],
  ): Promise<readonly (E | null)[]> {
    const profile = await session.profile();
    const about = messages.map(({ event }) => event).filter(isOfList);
    const actions = new Set(about.flatMap(({ actionId }) => facts.reads.actions.get(actionId) ?? []));
    await learnOfActions(session, profile, [...actions], []);
    const inQuestion = [...actions].filter((action) => needsFollows(profile, asThere(action)));
    const [follows] = await Promise.all([
      followsOf(session, inQuestion),
      learnBlocks(
        session,
        profile,
        about.flatMap((event) => interactionOf(facts, event)?.actorId ?? []),
      ),
    ]);
    const deciding = { facts, identity: session.identity, profile, follows, open: () => session };
    return messages.map((message) => this.decide(deciding, message));
  }
}

/** Whether nothing more has to be read of the reader. */
function isKnown(facts: ListFacts, profile: ReaderProfile, event: LiveEvent): boolean {
  if (!isOfList(event)) return true;
  const action = facts.reads.actions.get(event.actionId) ?? null;
  if (action !== null && !profile.blocks.knows(action.actorId)) return false;
  if (action !== null && needsFollows(profile, asThere(action))) return false;
  const interaction = interactionOf(facts, event);
  return interaction === null || profile.blocks.knows(interaction.actorId);
}

function interactionOf({ interactions }: ListFacts, event: LiveEvent): Interaction | null {
  return event.kind === 'interaction' ? (interactions.get(event.interactionId) ?? null) : null;
}

/** An event with something in it. Its session is opened only if more data is needed, which is rare. */
abstract class ShownEvent {
  readonly cursor: string;
  readonly #open: KnownWatcher['open'];

  constructor(cursor: string, { open }: Pick<Deciding, 'open'>) {
    this.cursor = cursor;
    this.#open = open;
  }

  get session(): EventReaderSession {
    return this.#open();
  }
}

export class ActionShown<K extends 'added' | 'updated' | 'changed'> extends ShownEvent {
  readonly kind: K;
  readonly action: Action;

  constructor(kind: K, action: Action, cursor: string, deciding: Pick<Deciding, 'open'>) {
    super(cursor, deciding);
    this.kind = kind;
    this.action = action;
  }

  /** The same at another place of the log. */
  at(cursor: string): ActionShown<K> {
    return new ActionShown(this.kind, this.action, cursor, { open: () => this.session });
  }
}

class InteractionShown extends ShownEvent {
  readonly kind: 'added' | 'updated';
  readonly interaction: Interaction;

  constructor(interaction: Interaction, cursor: string, deciding: Pick<Deciding, 'open'>) {
    super(cursor, deciding);
    const { editedAt, actorId } = interaction;
    this.kind = editedAt === null && !isPseudonym(actorId) ? 'added' : 'updated';
    this.interaction = interaction;
  }
}

/** Those of a slice with a filter. */
export class SliceRules extends ListRules<SliceEvent> {
  readonly #filter: CheckedActionFilter;

  /** @param filter with the ref of the slice. */
  constructor(filter: CheckedActionFilter) {
    super();
    this.#filter = filter;
  }

  protected decide(deciding: Deciding, { cursor, event }: EventMessage): SliceEvent | null {
    if (!isOfEntry(event)) return null;
    const { kind, actionId } = event;
    const { profile, follows, facts } = deciding;
    const action = facts.reads.actions.get(actionId) ?? null;
    const removed = { kind: 'removed', cursor, actionId } as const;
    // Nobody knows who has seen what is gone altogether.
    if (action === null || action.refIds.length === 0) return kind === 'removed' ? removed : null;
    const isSeen = isEntitled(profile, action, follows);
    if (isSeen && passesSliceFilter(this.#filter, action))
      return new ActionShown(kind === 'removed' ? 'updated' : kind, action, cursor, deciding);
    // An action that was hidden from the reader before it was gone stays so.
    if (kind === 'removed')
      return !isGone(action) || isEntitled(profile, asThere(action), follows) ? removed : null;
    // An edit may have taken it out of the filter.
    return kind === 'updated' && isSeen && action.version > 1 ? removed : null;
  }
}

/** Those of a thread. Its interactions are seen by everybody who sees the action. */
export class ThreadRules extends ListRules<ThreadEvent> {
  readonly #actionId: ActionId;

  constructor(actionId: ActionId) {
    super();
    this.#actionId = actionId;
  }

  protected decide(deciding: Deciding, { cursor, event }: EventMessage): ThreadEvent | null {
    const actionId = this.#actionId;
    const { profile, follows, facts, identity } = deciding;
    const action = facts.reads.actions.get(actionId) ?? null;
    const isSeen = action !== null && isEntitled(profile, action, follows);
    if (isOfEntry(event))
      return isSeen
        ? new ActionShown('changed', action, cursor, deciding)
        : { kind: 'gone', cursor, actionId };
    if (event.kind !== 'interaction' || !isSeen) return null;
    const { interactionId } = event;
    const interaction = facts.interactions.get(interactionId) ?? null;
    if (interaction !== null && isBlocked(profile, interaction.actorId)) return null;
    return interaction !== null && isShown(interaction, moderates(identity))
      ? new InteractionShown(interaction, cursor, deciding)
      : { kind: 'removed', cursor, interactionId };
  }
}
