import { z } from 'zod';
import { LISTED_STATES, type ListedState, type ListName, rowOf } from '../../domain/item-states.ts';
import { DELIVERY_REASONS, type NewsfeedItem } from '../../domain/newsfeed-item.ts';
import type { Action } from '../../domain/action.ts';
import { tagForm } from '../../domain/text-forms.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import { descriptorOfType, descriptorTypes, indexedFields } from '../../descriptors/registry.ts';
import type { ActionConditions } from '../../storage/actions/action-document.ts';
import type { ActionFilter, FeedFilter, FeedOrder } from '../../core/shapes.ts';
import { validate } from '../../core/validate.ts';

const MAX_VALUES = 100;

const listOf = <T extends string>(valueSchema: z.ZodType<T>) =>
  z
    .array(valueSchema)
    .max(MAX_VALUES, `Must have at most ${String(MAX_VALUES)} entries`)
    .nullish()
    .transform((values) => values ?? null);
const timeSchema = z
  .date()
  .nullish()
  .transform((time) => time ?? null);

const knownTypes = (): string =>
  descriptorTypes()
    .map(({ type }) => type)
    .join(', ');
export const typeSchema = idSchema.refine((type) => descriptorOfType(type) !== undefined, {
  error: ({ input }) => `Unknown type ${JSON.stringify(input)}, known are ${knownTypes()}`,
});

const actionFilterShape = {
  types: listOf(typeSchema),
  actorIds: listOf(idSchema),
  tags: listOf(idSchema.transform(tagForm)),
  since: timeSchema,
  until: timeSchema,
};

const descriptorFieldSchema = z.strictObject({
  field: z.string().refine((field) => indexedFields().includes(field), {
    error: ({ input }) =>
      `${JSON.stringify(input)} is not an indexed field; indexed are ${indexedFields().join(', ')}`,
  }),
  value: idSchema,
});

const actionFilterSchema = z.strictObject({
  ...actionFilterShape,
  descriptor: descriptorFieldSchema.nullish().transform((descriptor) => descriptor ?? null),
});
const flagSchema = z
  .boolean()
  .nullish()
  .transform((flag) => flag ?? false);
/** The states whose lists can be asked for, by their names in filters. */
const LISTS = LISTED_STATES.map((state) => ({ state, name: rowOf(state).list?.[0] as ListName }));
const feedFilterSchema = z
  .strictObject({
    ...actionFilterShape,
    refId: idSchema.nullish().transform((refId) => refId ?? null),
    unreadOnly: flagSchema,
    reasons: listOf(z.enum(DELIVERY_REASONS)),
    ...(Object.fromEntries(LISTS.map(({ name }) => [name, flagSchema])) as Record<
      ListName,
      typeof flagSchema
    >),
  })
  .superRefine((filter, context) => {
    const [one, other] = LISTS.filter(({ name }) => filter[name]);
    if (one === undefined || other === undefined) return;
    const message = `An item cannot be both ${one.name} and ${other.name}: use one of these filters`;
    context.addIssue({ code: 'custom', path: [other.name], message });
  });

export type CheckedActionFilter = z.output<typeof actionFilterSchema>;
export type CheckedFeedFilter = z.output<typeof feedFilterSchema>;

/** @throws FanfareError BAD_USER_INPUT */
export function checkActionFilter(filter: ActionFilter | null | undefined): CheckedActionFilter {
  return validate(actionFilterSchema, { ...filter }, ['filter']);
}

const NO_FILTER: CheckedFeedFilter = feedFilterSchema.parse({});

/** @throws FanfareError BAD_USER_INPUT */
export function checkFeedFilter(filter: FeedFilter | null | undefined): CheckedFeedFilter {
  // Most subscriptions have none, and each keeps it.
  if (filter == null) return NO_FILTER;
  return validate(feedFilterSchema, { ...filter }, ['filter']);
}

type FilterOfActions = Omit<CheckedActionFilter, 'descriptor'> & {
  readonly descriptor?: CheckedActionFilter['descriptor'];
  readonly refId?: CheckedFeedFilter['refId'];
};

/** Whether an action meets the conditions of `actionConditions`. */
export function passesActionFilter(filter: FilterOfActions, action: Action): boolean {
  const { types, actorIds, tags, refId, descriptor } = filter;
  const valueOf = (field: string): unknown => (action.descriptor as object as Record<string, unknown>)[field];
  return (
    (types === null || types.includes(action.descriptor.type)) &&
    (actorIds === null || actorIds.includes(action.actorId)) &&
    (refId == null || action.refIds.includes(refId)) &&
    (tags === null || tags.some((tag) => action.descriptor.tags.includes(tag))) &&
    (descriptor == null || [valueOf(descriptor.field)].flat().includes(descriptor.value))
  );
}

/** The conditions of a filter that can be evaluated on the actions themselves. */
export function actionConditions(filter: FilterOfActions): ActionConditions {
  const { types, actorIds, tags, refId, descriptor } = filter;
  return {
    ...(types === null ? {} : { types }),
    ...(actorIds === null ? {} : { actorIds }),
    ...(tags === null ? {} : { tags }),
    ...(refId == null ? {} : { refId }),
    ...(descriptor == null ? {} : { descriptorField: descriptor }),
  };
}

/** The state whose list a filter requests; `null`: the feed. */
export function listedState(filter: CheckedFeedFilter): ListedState | null {
  return LISTS.find(({ name }) => filter[name])?.state ?? null;
}

/**
 * Whether an item passes a feed filter. `since` (inclusive) and `until` (exclusive) refer to `conducted` in the order
 * RECENT, and to the relevancy otherwise.
 */
export function passesFeedFilter(
  filter: CheckedFeedFilter,
  { action, relevancy, isUnread, reasons }: NewsfeedItem,
  order: FeedOrder = 'RELEVANCY',
): boolean {
  const at = (order === 'RECENT' ? action.conducted : relevancy).getTime();
  return (
    passesActionFilter(filter, action) &&
    (filter.reasons === null || filter.reasons.some((reason) => reasons.includes(reason))) &&
    (filter.since === null || at >= filter.since.getTime()) &&
    (filter.until === null || at < filter.until.getTime()) &&
    (!filter.unreadOnly || isUnread)
  );
}
