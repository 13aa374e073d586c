import type { AddressedBy as AddressedBySource } from '../../domain/visibility.ts';
import { INTERACTION_KINDS } from '../../domain/relevancy.ts';
import {
  FEED_PATHS,
  WITHHELD_REASONS,
  type FeedItemExplanation as ExplanationSource,
  type FeedPath,
  type RelevancyCause as RelevancyCauseSource,
  type WithheldReason,
} from '../../domain/explanation.ts';
import { MAX_CAUSES } from '../../services/feed/items/explain-item.ts';
import { builder } from '../builder.ts';
import { parseActionId } from '../global-id.ts';
import { DeliveryReasonEnum, described } from './enums.ts';

const FeedPathEnum = builder.enumType('FeedPath', {
  description: 'Where a feed has an item from.',
  values: described<FeedPath>(FEED_PATHS, {
    STORED: 'From what is stored of the feed.',
    PULLED: 'Looked up when the feed is read, for a ref with very many followers.',
    SOURCE: 'From the actions themselves: nothing is stored there.',
    NONE: 'It has none. Where nothing withholds it, its delivery is still under way.',
  }),
});

const WithheldReasonEnum = builder.enumType('WithheldReason', {
  description: 'What keeps an action out of a feed.',
  values: described<WithheldReason>(WITHHELD_REASONS, {
    HIDDEN: 'An admin hid it. Only admins see this.',
    MUTED: 'The reader mutes it.',
    HIDDEN_BY_READER: 'The reader hid the item.',
    ARCHIVED: 'The reader archived the item.',
    SNOOZED: 'The reader snoozed the item, and the time has not come yet.',
    NOT_ADDRESSED: 'Nothing brings it into the feed.',
    NOT_ENTITLED: 'The reader may not see it at all. Only admins see this.',
  }),
});

const RelevancyCauseKindEnum = builder.enumType('RelevancyCauseKind', {
  description: 'What lifts an item.',
  values: described<RelevancyCauseSource['kind']>(
    ['CONDUCTED', ...INTERACTION_KINDS, 'RESHARED_BY_FOLLOWED', 'SNOOZE_ENDED'],
    {
      CONDUCTED: 'That it happened.',
      COMMENT: 'A comment.',
      LIKE: 'A like.',
      RESHARE: 'A reshare.',
      REACTION: 'A reaction.',
      RESHARED_BY_FOLLOWED: 'Somebody the reader followed then passed it on.',
      SNOOZE_ENDED: 'That the reader had snoozed it until then.',
    },
  ),
});

const AddressedBy = builder.objectRef<AddressedBySource>('AddressedBy').implement({
  description: 'One way by which an action comes into a feed.',
  fields: (t) => ({
    reason: t.field({ type: DeliveryReasonEnum, description: 'Why.', resolve: ({ reason }) => reason }),
    via: t.exposeString('via', {
      nullable: true,
      description: 'The ref, member, team or department; null where the action names the reader.',
    }),
    since: t.expose('since', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when the reader has followed it, or belonged to it.',
    }),
    until: t.expose('until', {
      type: 'DateTime',
      nullable: true,
      description: 'When that ended; null: it goes on.',
    }),
  }),
});

const RelevancyCause = builder.objectRef<RelevancyCauseSource>('RelevancyCause').implement({
  description: 'Something that lifts an item.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime', description: 'When it happened.' }),
    kind: t.field({ type: RelevancyCauseKindEnum, description: 'What it was.', resolve: ({ kind }) => kind }),
    liftedTo: t.expose('liftedTo', {
      type: 'DateTime',
      description: 'How high it lifts the item for this reader. The highest is the relevancy.',
    }),
  }),
});

const FeedItemExplanation = builder.objectRef<ExplanationSource>('FeedItemExplanation').implement({
  description: 'Why an action is or is not in a feed.',
  fields: (t) => ({
    isInFeed: t.exposeBoolean('isInFeed', { description: 'Whether the feed shows it now.' }),
    isEntitled: t.exposeBoolean('isEntitled', {
      description: 'Whether the reader may see it at all. Of another member: without any role of theirs.',
    }),
    addressedBy: t.field({
      type: [AddressedBy],
      description: 'Every way by which it comes into the feed; empty when none does.',
      resolve: (explanation) => explanation.addressedBy,
    }),
    withheldBy: t.field({
      type: [WithheldReasonEnum],
      description: 'All that keeps it out. Empty: it is in the feed, or will be once it is delivered.',
      resolve: (explanation) => explanation.withheldBy,
    }),
    relevancy: t.expose('relevancy', {
      type: 'DateTime',
      nullable: true,
      description: 'Its place in the feed; null when it is not addressed to the reader.',
    }),
    causes: t.field({
      type: [RelevancyCause],
      description: `What lifts it, the highest first: at most ${String(MAX_CAUSES)} interactions, a snooze that has ended, and that it happened. What was taken back or hidden has lifted it all the same.`,
      resolve: ({ causes }) => causes,
    }),
    path: t.field({
      type: FeedPathEnum,
      description: 'Where the feed has it from.',
      resolve: ({ path }) => path,
    }),
    score: t.exposeFloat('score', {
      nullable: true,
      description: 'Its score in the order TOP; null when it is not in the feed or too old to be scored.',
    }),
    scoreVars: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'What the score is made from: generation, actionScore, isScored, interactionsWithActor, relationship.',
      resolve: ({ scoreVars }) => scoreVars,
    }),
  }),
});

builder.queryField('explainFeedItem', (t) =>
  t.field({
    type: FeedItemExplanation,
    description:
      'Why an action is or is not in a feed: that of the viewer or, for admins, of any member. NOT_FOUND wherever ' +
      'action(id) is null for the viewer.',
    args: {
      actionId: t.arg.id({ required: true, description: 'Global id of the action.' }),
      memberId: t.arg.string({ description: 'Whose feed; absent: that of the viewer.' }),
    },
    resolve: (_root, { actionId, memberId }, context) =>
      context.services.explainFeedItem(context.session(), parseActionId(actionId, ['actionId']), memberId),
  }),
);
