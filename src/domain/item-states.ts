/** Everything about a state that an item can have. */
interface StateRow {
  /** The state has an end: until then the item is away, and then it comes back on top. */
  readonly ends: boolean;
  /** How many items of a reader may have it, or have it at once if it ends; every list of them is read in full. */
  readonly most: number;
  /** Name and description of the list with these items, as a filter of the feed; `null`: they are in none. */
  readonly list: readonly [name: string, description: string] | null;
  /** The field of an item that tells it: whether the item is in the state or, if it ends, the end. `null`: none. */
  readonly field: readonly [name: string, description: string] | null;
  readonly set: readonly [mutation: string, description: string];
  readonly clear: readonly [mutation: string, description: string];
  /** Its reason in explanations. */
  readonly withheld: readonly [reason: string, description: string];
  /** The reason in explanations of an item that its end has raised; `null`: it does not end. */
  readonly ended: readonly [cause: string, description: string] | null;
}

/**
 * The states that keep an item out of its reader's feed. An item has at most one of these states. Pages, counts, groups, live events,
 * explanations and the API go by these rows: a further state is a further row.
 */
export const ITEM_STATES = {
  HIDDEN: {
    ends: false,
    most: Infinity,
    list: null,
    field: null,
    set: [
      'hideFeedItem',
      "Hides an action from the viewer's own feed only, also when it is delivered again. An archived or snoozed item becomes hidden instead. NOT_FOUND if the viewer may not see the action.",
    ],
    clear: [
      'unhideFeedItem',
      "Shows a hidden action in the viewer's own feed again. NOT_FOUND if the viewer may not see the action.",
    ],
    withheld: ['HIDDEN_BY_READER', 'The reader hid the item.'],
    ended: null,
  },
  ARCHIVED: {
    ends: false,
    most: 10_000,
    list: ['archived', "Returns the viewer's archived items instead of the feed."],
    field: ['isArchived', 'Whether the reader archived it, so that it is not in the feed.'],
    set: [
      'archiveFeedItem',
      'Archives an item: it leaves the feed and a bump does not bring it back. A hidden or snoozed item becomes archived instead. NOT_FOUND if the viewer may not see the action, CONFLICT beyond 10,000.',
    ],
    clear: [
      'unarchiveFeedItem',
      'Returns an archived item to the feed. NOT_FOUND if the viewer may not see the action.',
    ],
    withheld: ['ARCHIVED', 'The reader archived the item.'],
    ended: null,
  },
  SNOOZED: {
    ends: true,
    most: 500,
    list: [
      'snoozed',
      "Returns the viewer's snoozed items instead of the feed. Cannot be combined with `archived`.",
    ],
    field: [
      'snoozedUntil',
      'The end of its snooze; until then it is not in the feed. Null: it is not snoozed.',
    ],
    set: [
      'snoozeFeedItem',
      'Removes an item from the feed until the given time; then it comes back on top, unread, with a live event. A bump does not bring it back earlier. A hidden or archived item becomes snoozed instead. NOT_FOUND if the viewer may not see the action, CONFLICT beyond 500.',
    ],
    clear: [
      'unsnoozeFeedItem',
      'Returns a snoozed item to the feed, at its position without the snooze. If the snooze has already ended, the item keeps its position. NOT_FOUND if the viewer may not see the action.',
    ],
    withheld: ['SNOOZED', 'The reader snoozed the item, and the snooze has not ended.'],
    ended: ['SNOOZE_ENDED', 'The end of a snooze by the reader.'],
  },
} as const satisfies Readonly<Record<string, StateRow>>;

type Rows = typeof ITEM_STATES;
export type ItemState = keyof Rows;

/** The states whose items have a list of their own. */
export type ListedState = { [S in ItemState]: Rows[S]['list'] extends null ? never : S }[ItemState];
/** Their names in the filter of a feed. */
export type ListName = NonNullable<Rows[ItemState]['list']>[0];
/** The reasons in explanations: of the states, and of the end of one. */
export type StateReason = Rows[ItemState]['withheld'][0];
export type StateEnded = NonNullable<Rows[ItemState]['ended']>[0];

export const STATE_NAMES = Object.keys(ITEM_STATES) as readonly ItemState[];
export const rowOf = (state: ItemState): StateRow => ITEM_STATES[state];
export const LISTED_STATES = STATE_NAMES.filter((state): state is ListedState => rowOf(state).list !== null);
export const ENDING_STATES = STATE_NAMES.filter((state) => rowOf(state).ends);
export const LASTING_STATES = STATE_NAMES.filter((state) => !rowOf(state).ends);
