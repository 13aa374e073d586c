import { isMutedAction, type MutableAction } from '../../descriptors/muted-action.ts';
import type { Action } from '../../domain/action.ts';
import { currentReasons, isPulledFor, listsOf, mutesPasser } from '../../domain/visibility.ts';
import { isBlocked } from '../../domain/block.ts';
import { isMutedPerson } from '../../domain/mute.ts';
import {
  isUnreadItem,
  type ItemMark,
  type DeliveryReason,
  type FeedEntry,
  type NewsfeedItem,
} from '../../domain/newsfeed-item.ts';
import {
  type ItemState,
  type ListedState,
  rowOf,
  STATE_NAMES,
  type StateReason,
} from '../../domain/item-states.ts';
import type { Follow, ReaderProfile } from '../../domain/viewer.ts';

/** Everything the rules need besides the reader. */
export interface EntryFacts {
  readonly entry: FeedEntry;
  readonly action: Action | null;
  readonly mark: ItemMark | null;
  /** The reader's follows of the action's refs; `null`: not loaded, because the stored reason can be trusted. */
  readonly follows: readonly Follow[] | null;
}

export interface VisibleEntry {
  readonly entry: FeedEntry;
  readonly action: Action;
  readonly mark: ItemMark | null;
  /** Current reasons for the reader to have it. */
  readonly reasons: readonly DeliveryReason[];
  /** Ids of the reader's lists that it is in, if follows were loaded. */
  readonly lists: readonly string[];
}

/** The facts that a rule decides by. */
interface RuleFacts {
  readonly action: MutableAction & { readonly isHidden: boolean };
  readonly mark: ItemMark | null;
  /** Current reasons for the reader to have it. */
  readonly reasons: readonly DeliveryReason[];
  /** Ids of the reader's lists that it is in. */
  readonly lists: readonly string[];
  /** The host offers it in a view, and the reader may see it. Default: it does not. */
  readonly isOffered?: boolean | undefined;
}

interface Rule {
  /** Says what it means for the reader. Explanations show it. */
  readonly description: string;
  /** @param state the list: items in this state, or the feed when `null`. */
  readonly withholds: (reader: ReaderProfile, facts: RuleFacts, state: ItemState | null) => boolean;
  /** Whether it may withhold an action that watchers were shown before, without an event that removes it. */
  readonly mayHaveBegun: (reader: ReaderProfile, action: Action) => boolean;
}

/** An action that names the reader is in the feed, in whatever list it is. */
const NAMING: ReadonlySet<DeliveryReason> = new Set(['MENTION', 'RECIPIENT']);
const isAnnounced = (): boolean => false;
const OF_STATES = Object.fromEntries(
  STATE_NAMES.map((withheld): [string, Rule] => [
    rowOf(withheld).withheld[0],
    {
      description: rowOf(withheld).withheld[1],
      withholds: (_reader, { mark }, state) => mark?.state === withheld && withheld !== state,
      mayHaveBegun: isAnnounced,
    },
  ]),
) as Readonly<Record<StateReason, Rule>>;

/**
 * The rules of feeds, by what explanations call them, in the order in which they say so. Pages, counts, groups and live events show
 * what no rule withholds. Pure functions of the action's current state. There is none for entitlement: a reader who is addressed is
 * entitled.
 */
const RULES = {
  HIDDEN: {
    description: 'An admin hid it. Only admins see this.',
    withholds: (_reader, { action }) => action.isHidden,
    mayHaveBegun: isAnnounced,
  },
  MUTED: {
    description: 'The reader mutes it.',
    withholds: ({ mutes }, { action }) => isMutedAction(mutes, action),
    mayHaveBegun: mayBeMutedNow,
  },
  // Watchers are asked to resync when there is a block.
  BLOCKED: {
    description: 'There is a block between its actor and the reader. Only admins see this.',
    withholds: (reader, { action }) => isBlocked(reader, action.actorId),
    mayHaveBegun: isAnnounced,
  },
  ...OF_STATES,
  IN_EXCLUSIVE_LIST: {
    description: 'It is in a list of the reader that keeps its items out of the feed.',
    withholds: (reader, { lists, reasons }, state) =>
      state === null &&
      lists.length > 0 &&
      reasons.length > 0 &&
      !reasons.some((reason) => NAMING.has(reason)) &&
      reader.lists.some(({ id, isExclusive }) => isExclusive && lists.includes(id)),
    // An edit may give it other refs. Watchers are asked to resync when a list changes.
    mayHaveBegun: ({ lists }, { version }) => version > 1 && lists.some(({ isExclusive }) => isExclusive),
  },
  NOT_ADDRESSED: {
    description: 'The action is not addressed to the reader.',
    withholds: (_reader, { reasons, isOffered }) => reasons.length === 0 && isOffered !== true,
    mayHaveBegun: isAnnounced,
  },
} satisfies Readonly<Record<string, Rule>>;

/** The name of a rule. */
export type RuleName = keyof typeof RULES;
const NAMED_RULES = Object.entries<Rule>(RULES) as readonly (readonly [RuleName, Rule])[];
const ALL_RULES = NAMED_RULES.map(([, rule]) => rule);

/** Descriptions of the rules: what each means for the reader. */
export const RULE_DESCRIPTIONS = Object.fromEntries(
  NAMED_RULES.map(([name, { description }]) => [name, description]),
) as Readonly<Record<RuleName, string>>;

/**
 * A mute may hide an item that was in the list before: an edit has changed its refs or words, or its remaining resharers are
 * muted by the reader.
 */
function mayBeMutedNow(reader: ReaderProfile, action: Action): boolean {
  const { mutes } = reader;
  if (isMutedPerson(mutes, action.actorId) || mutes.types.has(action.descriptor.type)) return false;
  return mutesPasser(reader, action) || (action.version > 1 && isMutedAction(mutes, action));
}

/** The rules that keep an action out of the reader's feed. */
export function withheldBy(reader: ReaderProfile, facts: RuleFacts): RuleName[] {
  return NAMED_RULES.flatMap(([name, rule]) => (rule.withholds(reader, facts, null) ? name : []));
}

/** Whether a rule may withhold an action that a watcher was shown before, without an event that removes it. */
export function mayBeWithheldNow(reader: ReaderProfile, action: Action): boolean {
  return ALL_RULES.some((rule) => rule.mayHaveBegun(reader, action));
}

/**
 * Applies the rules: the visible entry, or `null` when the reader may not see it, whatever the stored feed says.
 * @param state the list: items in this state, or the feed when `null`.
 */
export function passRules(
  reader: ReaderProfile,
  { entry, action, mark, follows }: EntryFacts,
  state: ListedState | null = null,
): VisibleEntry | null {
  if (action === null || action.isDeleted || (mark?.state ?? null) !== state) return null;
  // A pulled action is read from the source with its current relevancy; the stored entry would be a duplicate.
  if (!entry.reasons.includes('PULL') && isPulledFor(reader, action)) return null;
  const reasons = currentReasons(reader, action, entry.reasons, follows);
  const facts = { action, mark, reasons, lists: listsOf(reader, action, follows ?? []) };
  const isOffered = entry.offered !== undefined;
  return ALL_RULES.some((rule) => rule.withholds(reader, { ...facts, isOffered }, state))
    ? null
    : { entry, ...facts };
}

/** Presentation: turns a visible entry into the item shown to the reader. */
export function toItem(
  reader: ReaderProfile,
  { entry, action, mark, reasons, lists }: VisibleEntry,
  state: ListedState | null = null,
): NewsfeedItem {
  return {
    userId: reader.userId,
    actionId: entry.actionId,
    relevancy: entry.relevancy,
    reasons,
    action,
    isUnread: isUnreadItem(reader.lastRead, mark, entry.relevancy),
    state,
    until: state === null ? null : (mark?.end?.until ?? null),
    lists,
  };
}

/** Rules and presentation for a single entry. */
export function presentEntry(
  reader: ReaderProfile,
  facts: EntryFacts,
  state: ListedState | null = null,
): NewsfeedItem | null {
  const visible = passRules(reader, facts, state);
  return visible === null ? null : toItem(reader, visible, state);
}

/** Newer than everything the reader has read. A bump raises a read entry above the mark again. */
export function isAboveRead(reader: ReaderProfile, entry: Pick<FeedEntry, 'relevancy'>): boolean {
  return reader.lastRead === null || entry.relevancy.getTime() > reader.lastRead.getTime();
}
