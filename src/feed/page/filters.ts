import { z } from 'zod';
import type { Action } from '../../domain/action.ts';
import { LISTED_STATES, type ListedState, rowOf } from '../../domain/item-states.ts';
import {
  compareFeedPositions,
  DELIVERY_REASONS,
  type DeliveryReason,
  type FeedEntry,
  type NewsfeedItem,
} from '../../domain/newsfeed-item.ts';
import type { ReaderProfile } from '../../domain/viewer.ts';
import { tagForm } from '../../domain/text-forms.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import { descriptorOfType, descriptorTypes, indexedFields } from '../../descriptors/registry.ts';
import type { ActionConditions, WantedActions } from '../../storage/actions/action-document.ts';
import type { ActionFilter, FeedFilter, FeedFilterExclusion, ListOrder } from '../../core/shapes.ts';
import { validate } from '../../core/validate.ts';
import type { Load } from '../session/load.ts';
import type { ReaderSession } from '../session/reader-session.ts';
import {
  type AskedFilter,
  DECLARED,
  type FeedFilterRow,
  type FeedView,
  type KnownOfItem,
} from './declared.ts';
import type { RecordedCore } from './list-read.ts';
import { TEXT, textCheck } from './text-filter.ts';

const MAX_VALUES = 100;

/** A condition that is not given is `null`: nobody asks for it. */
const orNull = <T>(schema: z.ZodType<T>) => schema.nullish().transform((value) => value ?? null);
const listOf = <T extends string>(valueSchema: z.ZodType<T>) =>
  orNull(z.array(valueSchema).max(MAX_VALUES, `Must have at most ${String(MAX_VALUES)} entries`));
const timeSchema = orNull(z.date());
/** The check of a flag. `false` asks for nothing. */
export const flagSchema = z
  .boolean()
  .nullish()
  .transform((flag) => (flag === true ? flag : null));

const knownTypes = (): string =>
  descriptorTypes()
    .map(({ type }) => type)
    .join(', ');
export const typeSchema = idSchema.refine((type) => descriptorOfType(type) !== undefined, {
  error: ({ input }) => `Unknown type ${JSON.stringify(input)}, known are ${knownTypes()}`,
});

/** A condition on actions, which the database can evaluate as well. */
interface ActionRow<V> {
  readonly check: z.ZodType<V | null>;
  readonly ofAction: (action: Action, value: V) => boolean;
  readonly conditions: (value: V) => ActionConditions;
}

const actionRow = <V>(row: ActionRow<V>): ActionRow<V> => row;

const ACTION_ROWS = {
  types: actionRow({
    check: listOf(typeSchema),
    ofAction: ({ descriptor }, types) => types.includes(descriptor.type),
    conditions: (types) => ({ types }),
  }),
  actorIds: actionRow({
    check: listOf(idSchema),
    ofAction: ({ actorId }, actorIds) => actorIds.includes(actorId),
    conditions: (actorIds) => ({ actorIds }),
  }),
  tags: actionRow({
    check: listOf(idSchema.transform(tagForm)),
    ofAction: ({ descriptor }, tags) => tags.some((tag) => descriptor.tags.includes(tag)),
    conditions: (tags) => ({ tags }),
  }),
  refId: actionRow({
    check: orNull(idSchema),
    ofAction: ({ refIds }, refId) => refIds.includes(refId),
    conditions: (refId) => ({ refId }),
  }),
  descriptor: actionRow({
    check: orNull(
      z.strictObject({
        field: z.string().refine((field) => indexedFields().includes(field), {
          error: ({ input }) =>
            `${JSON.stringify(input)} is not an indexed field; indexed are ${indexedFields().join(', ')}`,
        }),
        value: idSchema,
      }),
    ),
    ofAction: ({ descriptor }, { field, value }) =>
      [(descriptor as object as Record<string, unknown>)[field]].flat().includes(value),
    conditions: (descriptorField) => ({ descriptorField }),
  }),
};

const actionFilterSchema = z.strictObject({
  types: ACTION_ROWS.types.check,
  actorIds: ACTION_ROWS.actorIds.check,
  tags: ACTION_ROWS.tags.check,
  since: timeSchema,
  until: timeSchema,
  descriptor: ACTION_ROWS.descriptor.check,
  text: textCheck,
});

export type CheckedActionFilter = z.output<typeof actionFilterSchema> & { readonly refId?: string | null };

/** @throws FanfareError BAD_USER_INPUT */
export function checkActionFilter(filter: ActionFilter | null | undefined): CheckedActionFilter {
  return validate(actionFilterSchema, { ...filter }, ['filter']);
}

/** The conditions that are asked for, each with its value. */
function askedOf(filter: object): (readonly [row: ActionRow<unknown>, value: unknown])[] {
  const rows: Readonly<Record<string, unknown>> = ACTION_ROWS;
  return Object.entries(filter).flatMap(([name, value]) =>
    value == null || !(name in rows) ? [] : [[rows[name] as ActionRow<unknown>, value] as const],
  );
}

/** Whether an action meets the conditions of `actionConditions`. */
export function passesActionFilter(filter: CheckedActionFilter, action: Action): boolean {
  return askedOf(filter).every(([row, value]) => row.ofAction(action, value));
}

/** The same, and the times of the filter. */
export function passesSliceFilter(filter: CheckedActionFilter, action: Action): boolean {
  const { since, until } = filter;
  const { conducted } = action;
  const isInTime = (since === null || conducted >= since) && (until === null || conducted < until);
  return isInTime && passesActionFilter(filter, action);
}

/** The conditions of a filter that can be evaluated on the actions themselves. */
export function actionConditions(filter: CheckedActionFilter): ActionConditions {
  return conditionsOf(askedOf(filter));
}

/** The last of several conditions of a kind counts: it is necessary as well. */
function conditionsOf(
  asked: readonly (readonly [Pick<ActionRow<unknown>, 'conditions'>, unknown])[],
): ActionConditions {
  return Object.assign({}, ...asked.map(([row, value]) => row.conditions(value))) as ActionConditions;
}

/** Which items of a reader are asked for. */
export interface CheckedFeedFilter {
  /** The view that they are of; `null`: the feed. Its own conditions are among those asked for. */
  readonly view: FeedView | null;
  /** Equal for filters that ask for the same. */
  readonly key: string;
  readonly asked: readonly AskedFilter[];
  readonly since: Date | null;
  readonly until: Date | null;
  readonly unreadOnly: boolean;
  /** The state whose list is asked for; `null`: the feed. */
  readonly state: ListedState | null;
}

/** A row whose value has a type. Its input is added to `FeedFilter` of `core/shapes.ts`. */
export const feedFilter = <V>(row: FeedFilterRow<V>): FeedFilterRow<unknown> => row as FeedFilterRow<unknown>;

const actionFilter = <V>(
  row: ActionRow<V>,
  more: Omit<FeedFilterRow<V>, keyof ActionRow<V> | 'passes'>,
): FeedFilterRow<unknown> =>
  feedFilter<V>({ ...row, ...more, passes: ({ action }, value) => row.ofAction(action, value) });

/** The time that `since` and `until` of a filter refer to. */
const timeOf = (item: NewsfeedItem, { order }: KnownOfItem): number =>
  DECLARED.order(order).timeOf(item).getTime();

/** The conditions that an item must not meet. `is`: the same as a filter that asks for it. */
const exclusion = <V>(
  name: string,
  row: Pick<FeedFilterRow<V>, 'passes' | 'mayHavePassed'> & {
    readonly leavesOut?: (value: V) => WantedActions;
  },
): AskedFilter['row'] => ({
  name: `not.${name}`,
  passes: (item, value, known) => !row.passes(item, value as V, known),
  mayHavePassed: row.mayHavePassed,
  ...(row.leavesOut && { conditions: row.leavesOut as (value: unknown) => WantedActions }),
});

const hasReason = ({ reasons }: NewsfeedItem, asked: readonly DeliveryReason[]): boolean =>
  asked.some((reason) => reasons.includes(reason));

type Names = readonly string[];
const EXCLUSIONS: Readonly<Record<keyof FeedFilterExclusion, AskedFilter['row']>> = {
  types: exclusion<Names>('types', {
    passes: ({ action }, types) => ACTION_ROWS.types.ofAction(action, [...types]),
    leavesOut: (notOfTypes) => ({ notOfTypes }),
    mayHavePassed: 'NEVER',
  }),
  tags: exclusion<Names>('tags', {
    passes: ({ action }, tags) => ACTION_ROWS.tags.ofAction(action, [...tags]),
    leavesOut: (notOfTags) => ({ notOfTags }),
    mayHavePassed: 'BEFORE_AN_EDIT',
  }),
  actorIds: exclusion<Names>('actorIds', {
    passes: ({ action }, actorIds) => ACTION_ROWS.actorIds.ofAction(action, [...actorIds]),
    leavesOut: (notByActorIds) => ({ notByActorIds }),
    mayHavePassed: 'NEVER',
  }),
  refIds: exclusion<Names>('refIds', {
    passes: ({ action }, refIds) => refIds.some((refId) => action.refIds.includes(refId)),
    leavesOut: (notOfRefIds) => ({ notOfRefIds }),
    mayHavePassed: 'BEFORE_AN_EDIT',
  }),
  reasons: exclusion<readonly DeliveryReason[]>('reasons', {
    passes: hasReason,
    mayHavePassed: 'BEFORE_A_CHANGE',
  }),
};

DECLARED.addFilters([
  actionFilter(ACTION_ROWS.types, {
    ...{ name: 'types', input: 'IDS' },
    description:
      'Actions of one of these types, such as ApplicationRating. An unknown one is BAD_USER_INPUT.',
    mayHavePassed: 'NEVER',
  }),
  actionFilter(ACTION_ROWS.actorIds, {
    ...{ name: 'actorIds', input: 'IDS', description: 'Actions by one of these actors.' },
    mayHavePassed: 'NEVER',
  }),
  actionFilter(ACTION_ROWS.refId, {
    ...{ name: 'refId', input: 'ID', description: 'Actions that carry this ref id.' },
    mayHavePassed: 'BEFORE_AN_EDIT',
  }),
  actionFilter(ACTION_ROWS.tags, {
    ...{ name: 'tags', input: 'IDS', description: 'Actions with any of these tags.' },
    mayHavePassed: 'BEFORE_AN_EDIT',
  }),
  feedFilter({
    ...{ name: 'reasons', input: 'REASONS', description: 'Items in the feed for any of these reasons.' },
    check: listOf(z.enum(DELIVERY_REASONS)),
    passes: hasReason,
    mayHavePassed: 'BEFORE_A_CHANGE',
  }),
  feedFilter({
    ...{ name: 'since', input: 'TIME' },
    description: 'At this time or later: relevancy in RELEVANCY and TOP, conducted in RECENT.',
    check: timeSchema,
    passes: (item, since, known) => timeOf(item, known) >= since.getTime(),
    mayHavePassed: 'BEFORE_IT_MOVED',
  }),
  feedFilter({
    ...{ name: 'until', input: 'TIME' },
    description: 'Before this time: relevancy in RELEVANCY and TOP, conducted in RECENT.',
    check: timeSchema,
    passes: (item, until, known) => timeOf(item, known) < until.getTime(),
    mayHavePassed: 'BEFORE_IT_MOVED',
  }),
  feedFilter({
    ...{ name: 'unreadOnly', input: 'FLAG', description: 'Only unread items.' },
    check: flagSchema,
    passes: ({ isUnread }) => isUnread,
    mayHavePassed: 'BEFORE_A_CHANGE',
  }),
  feedFilter<object>({
    ...{ name: 'not', input: 'EXCLUSION', description: 'Only items with none of these.' },
    check: orNull(
      z.strictObject({
        types: ACTION_ROWS.types.check,
        tags: ACTION_ROWS.tags.check,
        actorIds: ACTION_ROWS.actorIds.check,
        refIds: listOf(idSchema),
        reasons: listOf(z.enum(DELIVERY_REASONS)),
      }),
    ),
    stands: (not) =>
      Object.entries(EXCLUSIONS).flatMap(([name, row]) => {
        const value = (not as Readonly<Record<string, unknown>>)[name];
        return value === null ? [] : [{ row, value }];
      }),
    passes: () => true,
    mayHavePassed: 'NEVER',
  }),
  feedFilter(TEXT),
  ...LISTED_STATES.map((state) => {
    const [name, description] = rowOf(state).list ?? [state, ''];
    return feedFilter({
      ...{ name, description, state, input: 'FLAG' },
      check: flagSchema,
      // The rules of the list decide.
      passes: () => true,
      mayHavePassed: 'NEVER',
      entries: ({ core }, reader) => entriesInState(core, reader, state),
    });
  }),
]);

const BATCH = 500;

/**
 * All of a reader's entries in a state, in feed order. Starts from the reader's marks instead of scanning the feed: one
 * round trip, plus one per 500 entries.
 */
async function entriesInState(
  core: RecordedCore,
  reader: ReaderProfile,
  state: ListedState,
): Promise<readonly FeedEntry[]> {
  const { userId, asOf } = reader;
  const { ends, most } = rowOf(state);
  const marked = ends
    ? await core.markEnds.ahead(userId, state, asOf)
    : (await core.itemMarks.list(userId, state, { from: null, isUp: false, limit: most })).map(
        ({ actionId }) => actionId,
      );
  return entriesOf(core, reader, marked);
}

/** The entries of these actions, in feed order; of those that are not in the feed there is none. One round trip for each 500. */
export async function entriesOf(
  core: Pick<RecordedCore, 'feedReader'>,
  reader: ReaderProfile,
  actionIds: readonly string[],
): Promise<readonly FeedEntry[]> {
  const entries: FeedEntry[] = [];
  for (let from = 0; from < actionIds.length; from += BATCH)
    entries.push(...(await core.feedReader.find(reader, actionIds.slice(from, from + BATCH))));
  return entries.sort(compareFeedPositions);
}

export const NO_FILTER: CheckedFeedFilter = {
  ...{ view: null, key: '', asked: [], since: null, until: null, unreadOnly: false, state: null },
};

/** @throws FanfareError BAD_USER_INPUT */
export function checkFeedFilter(filter: FeedFilter | null | undefined): CheckedFeedFilter {
  // Most subscriptions have none, and each keeps it.
  if (filter == null) return NO_FILTER;
  const values = validate(DECLARED.filterSchema, { ...filter }, ['filter']) as Readonly<
    Record<string, unknown>
  >;
  const given = [...DECLARED.filters.values()].flatMap((row) => {
    const value = values[row.name];
    return value === null ? [] : [{ row, value }];
  });
  if (given.length === 0) return NO_FILTER;
  const asked = given.flatMap(
    ({ row, value }): readonly AskedFilter[] => row.stands?.(value) ?? [{ row, value }],
  );
  return {
    view: null,
    key: JSON.stringify(given.map(({ row, value }) => [row.name, value])),
    asked,
    since: values['since'] as Date | null,
    until: values['until'] as Date | null,
    unreadOnly: values['unreadOnly'] === true,
    state: asked.find(({ row }) => row.state !== undefined)?.row.state ?? null,
  };
}

/** Where the entries come from that can pass; `null`: the feed. */
export function entriesFor({
  asked,
}: CheckedFeedFilter): NonNullable<FeedFilterRow<unknown>['entries']> | null {
  return asked.find(({ row }) => row.entries !== undefined)?.row.entries ?? null;
}

/** How many entries are looked at, the first of the list; `null`: all. */
export function mostFor({ asked }: CheckedFeedFilter): number | null {
  const most = Math.min(...asked.map(({ row }) => row.most ?? Infinity));
  return most === Infinity ? null : most;
}

/** The conditions of a filter that can be evaluated on the actions themselves. Of several of a kind one: each is necessary. */
function feedConditions({ asked }: CheckedFeedFilter): WantedActions {
  return Object.assign({}, ...asked.map(({ row, value }) => row.conditions?.(value))) as WantedActions;
}

/** Most that are left out by each kind of reason. Beyond that, the rules do. */
const MOST_LEFT_OUT = 500;

/**
 * Which actions of the source a filter and the rules may let through: the rules leave out whom and what the reader has muted or
 * blocked. `null`: all.
 */
export function wantedOf(filter: CheckedFeedFilter, { mutes, blocks }: ReaderProfile): WantedActions | null {
  const {
    notByActorIds: byActorIds = [],
    notOfTypes: ofTypes = [],
    notOfRefIds: ofRefIds = [],
    ...conditions
  } = feedConditions(filter);
  const few = (values: Iterable<string>): string[] => [...values].slice(0, MOST_LEFT_OUT);
  const [notByActorIds, notOfTypes, notOfRefIds] = [
    few(new Set([...byActorIds, ...mutes.members, ...mutes.refs, ...blocks.known])),
    few(new Set([...ofTypes, ...mutes.types])),
    few(new Set([...ofRefIds, ...mutes.refs])),
  ];
  const wanted = {
    ...conditions,
    ...(notByActorIds.length > 0 && { notByActorIds }),
    ...(notOfTypes.length > 0 && { notOfTypes }),
    ...(notOfRefIds.length > 0 && { notOfRefIds }),
  };
  return Object.keys(wanted).length === 0 ? null : wanted;
}

/** Loads what a filter needs of each item that it decides. */
export type KnownForFilter = (item: NewsfeedItem) => KnownOfItem['loaded'];

export const NOTHING_KNOWN: KnownForFilter = () => () => notNamed();

/** Whether an item cannot be decided without more reads. */
export function needsMore({ asked }: CheckedFeedFilter): boolean {
  return asked.some(({ row }) => row.needs !== undefined);
}

/** Loads what a filter has to know of these items: one batch for each load, or none. */
export async function learnForFilter(
  session: ReaderSession,
  { asked }: CheckedFeedFilter,
  items: readonly NewsfeedItem[],
): Promise<KnownForFilter> {
  const loads = new Set(asked.flatMap(({ row }) => row.needs ?? []));
  if (loads.size === 0 || items.length === 0) return NOTHING_KNOWN;
  const ids = [...new Set(items.map(({ actionId }) => actionId))];
  const found = new Map(
    await Promise.all(
      Array.from(loads, async (load) => {
        const values = await session.loadMany(load, ids);
        return [load, new Map(ids.map((id, index) => [id, values[index]]))] as const;
      }),
    ),
  );
  return ({ actionId }) =>
    <T>(load: Load<T>) =>
      ((found.get(load) ?? notNamed()).get(actionId) ?? null) as T | null;
}

/** Without an error, nothing would be found of any item. */
function notNamed(): never {
  throw new Error('A filter uses a load that is not among its needs');
}

/**
 * Whether an item passes a feed filter. `since` (inclusive) and `until` (exclusive) refer to `conducted` in the order
 * RECENT, and to the relevancy otherwise.
 */
export function passesFeedFilter(
  { asked }: Pick<CheckedFeedFilter, 'asked'>,
  item: NewsfeedItem,
  known: KnownForFilter,
  order: ListOrder | null = 'RELEVANCY',
): boolean {
  if (asked.length === 0) return true;
  const ofItem = { order: order ?? 'RELEVANCY', loaded: known(item) };
  return asked.every(({ row, value }) => row.passes(item, value, ofItem));
}

/** The names of the conditions that an item does not meet. */
export function failedOf(
  { asked, view }: CheckedFeedFilter,
  item: NewsfeedItem,
  known: KnownForFilter,
): readonly string[] {
  const ofItem = { order: view?.order ?? 'RELEVANCY', loaded: known(item) };
  return asked.filter(({ row, value }) => !row.passes(item, value, ofItem)).map(({ row }) => row.name);
}
