import { type AddressedBy as AddressedBySource } from '../../../src/domain/visibility.ts';
import {
  type FeedItemExplanation as ExplanationSource,
  type FeedPath,
  type RelevancyCause as RelevancyCauseSource,
} from '../../../src/domain/explanation.ts';
import { rowOf, STATE_NAMES, type StateEnded } from '../../../src/domain/item-states.ts';
import { MAX_RESHARES } from '../../../src/domain/action.ts';
import type { Reads } from '../../../src/graphql/limits/cost.ts';
import { mostRefs } from '../../../src/graphql/limits/lengths.ts';
import { MAX_CAUSES, explainFeedItem } from './explain-item.ts';
import { RULE_DESCRIPTIONS, type RuleName } from '../../../src/feed/page/feed-rules.ts';
import { builder } from '../../../src/graphql/builder.ts';
import { parseActionId } from '../../../src/graphql/global-id.ts';
import { listAsked } from '../../../src/features/feed/api/view-arg.ts';
import { DeliveryReasonEnum, describedEnum } from '../../../src/graphql/types/enums.ts';

const FeedPathEnum = describedEnum<FeedPath>('FeedPath', 'Where a feed reads an item from.', {
  STORED: 'From the stored feed.',
  PULLED: 'Looked up when the feed is read, for a ref with very many followers.',
  SOURCE: 'From the actions themselves, because that part of the feed is not stored.',
  NONE: 'Nowhere. If nothing withholds it, it has not been delivered yet.',
});

const WithheldReasonEnum = describedEnum<RuleName | 'NOT_ENTITLED'>(
  'WithheldReason',
  'What keeps an action out of a feed.',
  { ...RULE_DESCRIPTIONS, NOT_ENTITLED: 'The reader may not see it at all. Only admins see this.' },
);

const RelevancyCauseKindEnum = describedEnum<RelevancyCauseSource['kind']>(
  'RelevancyCauseKind',
  'What raises an item.',
  {
    CONDUCTED: 'The action itself.',
    COMMENT: 'A comment.',
    LIKE: 'A like.',
    RESHARE: 'A reshare.',
    REACTION: 'A reaction.',
    RESHARED_BY_FOLLOWED: 'A reshare by a member whom the reader followed at that time.',
    ...(Object.fromEntries(
      STATE_NAMES.flatMap((state) => {
        const { ended } = rowOf(state);
        return ended === null ? [] : [ended];
      }),
    ) as Record<StateEnded, string>),
  },
);

const AddressedBy = builder.objectRef<AddressedBySource>('AddressedBy').implement({
  description: 'A reason why an action belongs in a feed.',
  fields: (t) => ({
    reason: t.expose('reason', { type: DeliveryReasonEnum, description: 'The reason.' }),
    via: t.exposeString('via', {
      nullable: true,
      description: 'The ref, member, team or department; null if the action names the reader.',
    }),
    since: t.expose('since', {
      type: 'DateTime',
      nullable: true,
      description: 'When the reader started to follow it or joined it.',
    }),
    until: t.expose('until', {
      type: 'DateTime',
      nullable: true,
      description: 'When that ended; null: it has not.',
    }),
  }),
});

const RelevancyCause = builder.objectRef<RelevancyCauseSource>('RelevancyCause').implement({
  description: 'Something that raises an item.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When it happened.' }),
    kind: t.expose('kind', { type: RelevancyCauseKindEnum, description: 'Its kind.' }),
    liftedTo: t.expose('liftedTo', {
      type: 'DateTime',
      description: 'The relevancy it gives the item for this reader. The highest one counts.',
    }),
  }),
});

const FeedItemExplanation = builder.objectRef<ExplanationSource<RuleName>>('FeedItemExplanation').implement({
  description: 'Why an action is or is not in a feed.',
  fields: (t) => ({
    isInFeed: t.exposeBoolean('isInFeed', { description: 'Whether the feed, or the view, shows it now.' }),
    isEntitled: t.exposeBoolean('isEntitled', {
      description:
        'Whether the reader may see it at all. For another member, their roles are not considered.',
    }),
    addressedBy: t.expose('addressedBy', {
      type: [AddressedBy],
      description: 'All reasons why it belongs in the feed; empty: there are none.',
      extensions: { size: { usual: 10, most: mostRefs() + MAX_RESHARES + 4 } },
    }),
    withheldBy: t.expose('withheldBy', {
      type: [WithheldReasonEnum],
      description:
        'Everything that keeps it out of the feed. Empty: it is in the feed, or will be once it is delivered.',
      extensions: { maxBytes: 512 },
    }),
    leftOutBy: t.field({
      type: ['String'],
      description:
        'The conditions of the view that it does not meet: names of its filter such as `types` or `not.tags`, or `window`. Empty without a view, and for an item that the feed does not show.',
      extensions: { maxBytes: 512 },
      resolve: ({ leftOutBy }) => [...leftOutBy],
    }),
    relevancy: t.expose('relevancy', {
      type: 'DateTime',
      nullable: true,
      description: 'Its position in the feed; null if it is not addressed to the reader.',
    }),
    causes: t.expose('causes', {
      type: [RelevancyCause],
      description: `What raises it, highest first: the action itself, at most ${String(MAX_CAUSES)} interactions, and an ended snooze. Removed and hidden interactions are included.`,
      extensions: { size: { usual: 10, most: MAX_CAUSES + 2 } },
    }),
    path: t.expose('path', { type: FeedPathEnum, description: 'Where the feed reads it from.' }),
    score: t.exposeFloat('score', {
      nullable: true,
      description: 'Its score in the order TOP; null if it is not in the feed or is too old to be scored.',
    }),
    scoreVars: t.expose('scoreVars', {
      type: 'JSON',
      nullable: true,
      description:
        'Inputs of the score: generation, actionScore, isScored, interactionsWithActor, relationship; or, in a ranked view, the generation and the variables that its expression uses.',
      extensions: { maxBytes: 4_096 },
    }),
  }),
});

builder.queryField('explainFeedItem', (t) =>
  t.field({
    type: FeedItemExplanation,
    description:
      "Explains why an action is or is not in the viewer's feed or, for admins, in the feed of any member. NOT_FOUND if action(id) is null for the viewer.",
    args: {
      actionId: t.arg.id({ required: true, description: 'Global id of the action.' }),
      memberId: t.arg.string({ description: 'The member whose feed it is. Default: the viewer.' }),
      view: t.arg.string({
        description:
          'The name of a view: explains why it is or is not in that one. BAD_USER_INPUT: there is no such view.',
      }),
      listId: t.arg.id({
        description:
          'Global id of a list of the viewer: explains why it is or is not in that one. Not beside `view`.',
      }),
    },
    extensions: { reads: 50 satisfies Reads },
    resolve: (_root, { actionId, memberId, ...list }, context) =>
      explainFeedItem(
        context.core,
        context.session(),
        parseActionId(actionId, ['actionId']),
        memberId,
        listAsked(list),
      ),
  }),
);
