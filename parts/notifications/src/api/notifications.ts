import type { InputRef } from '@pothos/core';
import {
  CHANNELS,
  MAX_PREFERENCES,
  parseNotificationKey,
  NOTIFICATION_KINDS,
  type Channel,
  type EffectivePreference,
  type NotificationKind,
  type QuietHours as QuietHoursRecord,
} from '../../../../src/domain/notification.ts';
import { badInput } from '../../../../src/domain/errors.ts';
import { UnreadCount, UNREAD_COST } from '../../../../src/features/feed/api/unread-count.ts';
import { MAX_PAGE_SIZE, pageSize } from '../../../../src/feed/page/paging.ts';
import { builder } from '../../../../src/graphql/builder.ts';
import { defineConnection, PAGE_COST, pageArgs, toConnection } from '../../../../src/graphql/connection.ts';
import { parseActionId, parseAddedId } from '../../../../src/graphql/global-id.ts';
import type { ListSize, PageSize, Reads } from '../../../../src/graphql/limits/cost.ts';
import type { ListArgument } from '../../../../src/graphql/limits/variables.ts';
import { asksForField } from '../../../../src/graphql/live-selection.ts';
import { plainSentence } from '../../../../src/graphql/sentences.ts';
import { Action, namedIn } from '../../../../src/features/actions/api/action.ts';
import { LOCALE_ARG, localeOf, SummaryPart } from '../../../../src/features/actions/api/descriptor.ts';
import { describedEnum } from '../../../../src/graphql/types/enums.ts';
import { PLAIN, SHARED, type RenderedOnce } from '../../../../src/graphql/shared-field.ts';
import { type AddedNode, Node } from '../../../../src/graphql/types/node.ts';
import { encodeNotificationId } from '../../../../src/domain/node-ids.ts';
import type { UserId } from '../../../../src/domain/action.ts';
import { Viewer } from '../../../../src/features/viewer/api.ts';
import { Member } from '../../../../src/features/directory/api/member.ts';
import { Interaction } from '../../../../src/features/interactions/api.ts';
import { INTERACTION } from '../../../../src/features/interactions/read-interactions.ts';
import {
  explainNotification,
  type NotificationExplanation as ExplanationSource,
  type NotificationNotSent,
  type NotificationSending as SendingSource,
  type NotificationWithheld,
} from '../explain-notification.ts';
import {
  MAX_PREFERENCES_PER_CALL,
  NOTIFICATION_STATE,
  readPreferences,
  setNotificationPreferences,
  setQuietHours,
} from '../preferences.ts';
import {
  actorsOf,
  countActors,
  countEvents,
  getNotification,
  readNotifications,
  type NotificationPage,
} from '../read-notifications.ts';
import type { Notification as NotificationSource } from '../groups.ts';
import { NOTIFICATION_FILTERS, type NotificationFilterInput } from '../filter.ts';
import { markNotificationsRead, markNotificationsSeen, MAX_MARKED } from '../mark-notifications.ts';
import { MOST_PARTS, notificationParts } from './summaries.ts';

const NotificationKindEnum = describedEnum<NotificationKind>(
  'NotificationKind',
  'Why a notification concerns the reader.',
  {
    COMMENT: 'A comment on an action of theirs.',
    REPLY: 'A reply to a comment of theirs.',
    MENTION: 'An action or a comment mentions them, or an action names them as recipient.',
    LIKE: 'A like of an action of theirs.',
    REACTION: 'A reaction to an action of theirs.',
    RESHARE: 'A reshare of an action of theirs.',
    FOLLOW: 'Somebody follows them.',
    ASSIGNED: 'A service assigned something to them.',
    OWN: 'The type of an action says to notify them.',
  },
);

const ChannelEnum = describedEnum<Channel>('Channel', 'A way to notify a member.', {
  IN_APP: 'The list of notifications.',
  EMAIL: 'Mail, sent by the host application, which is notified by `notification.due`.',
  PUSH: 'Push messages, sent by the server to browsers that are registered, or by the host application.',
});

const ACTORS_COST: { readonly size: PageSize } = {
  size: { argument: 'first', default: 3, max: MAX_PAGE_SIZE },
};

/** Counting looks at up to a thousand events of a group; nearly all groups have few, and are counted already. */
const COUNT_COST: { readonly size: ListSize } = { size: { usual: 1, most: 10 } };

const NODE_KEY = /^(.+):([A-Z]+:[^:]+)$/su;

/** `null`: no such id can have been issued. */
function keyOf(nodeKey: string): { readonly userId: UserId; readonly key: string } | null {
  const [, userId, key] = NODE_KEY.exec(nodeKey) ?? [];
  if (userId === undefined || key === undefined || parseNotificationKey(key) === null) return null;
  return { userId, key };
}

export const Notification = builder.objectRef<NotificationSource>('Notification').implement({
  description:
    'What concerns the reader: events of one kind about one action; follows of one day (UTC); one assignment. An event has one kind: a mention counts before a reply, a reply before a comment.',
  interfaces: [Node],
  extensions: {
    node: {
      is: (source) => 'group' in source,
      load(nodeKey, context) {
        const found = keyOf(nodeKey);
        if (found === null) return undefined;
        if (found.userId !== context.identity().userId) return Promise.resolve(null);
        return getNotification(context.core, context.session(), found.key);
      },
    } satisfies AddedNode,
    renderedOnce: {
      keyOf: ({ userId, group }) => `${userId}:${group.key}`,
      versionOf: ({ group: { events }, version, action, isSeen, isRead }) =>
        version === null ? null : [version, events.length, action?.rev, isSeen, isRead].join(),
      idsIn: (source) => [
        ...actorsOf(source),
        ...(source.group.refId === null ? [] : [source.group.refId]),
        ...(source.action === null ? [] : namedIn(source.action)),
      ],
    } satisfies RenderedOnce<NotificationSource>,
  },
  fields: (t) => ({
    id: t.id({
      description: 'Global id.',
      extensions: { ...SHARED, ...PLAIN },
      resolve: ({ userId, group }) => encodeNotificationId(userId, group.key),
    }),
    kind: t.field({
      type: NotificationKindEnum,
      description: 'Why it concerns the reader.',
      extensions: SHARED,
      resolve: ({ group }) => group.kind,
    }),
    at: t.field({
      type: 'DateTime',
      description:
        'When its newest event became visible, which is its place in the list. The interaction has the time when it happened.',
      extensions: SHARED,
      resolve: ({ group }) => group.at,
    }),
    action: t.field({
      type: Action,
      nullable: true,
      description: 'The action it is about; null for FOLLOW and ASSIGNED.',
      extensions: SHARED,
      resolve: ({ action }) => action,
    }),
    interaction: t.field({
      type: Interaction,
      nullable: true,
      description: 'The newest interaction of its events; null if the newest event is none.',
      async resolve({ group }, _args, context) {
        const id = group.events[0]?.interactionId ?? null;
        const found = id === null ? null : await context.session().load(INTERACTION, id);
        return found?.state === 'VISIBLE' ? found : null;
      },
    }),
    actors: t.field({
      type: [Member],
      description: 'The members who did it, each once, the newest first. None for ASSIGNED.',
      args: {
        first: t.arg.int({
          defaultValue: 3,
          description: `Number of members, 1 to ${String(MAX_PAGE_SIZE)}.`,
        }),
      },
      extensions: { ...ACTORS_COST, ...SHARED },
      resolve: (source, { first }) =>
        actorsOf(source)
          .slice(0, pageSize(first ?? 3))
          .map((userId) => ({ userId })),
    }),
    actorCount: t.field({
      type: UnreadCount,
      description: 'Number of different members who did it. Exact up to 100, and of at most 1,000 events.',
      extensions: { ...SHARED, ...COUNT_COST },
      resolve: (source, _args, context) => countActors(context.core, context.session(), source),
    }),
    count: t.field({
      type: UnreadCount,
      description: 'Number of its events. Exact up to 100.',
      extensions: SHARED,
      resolve: countEvents,
    }),
    isSeen: t.exposeBoolean('isSeen', {
      description: 'Whether it is not above the mark of markNotificationsSeen.',
      extensions: SHARED,
    }),
    isRead: t.exposeBoolean('isRead', {
      description:
        'Whether it was marked as read, alone or with everything below. A new event makes it unread.',
      extensions: SHARED,
    }),
    summary: t.string({
      description:
        'A sentence to the reader, with current names, such as "Ann, Bea, and 3 others commented on your post". In the language of `locale`, otherwise of Accept-Language.',
      args: { locale: t.arg.string({ description: LOCALE_ARG }) },
      extensions: SHARED,
      async resolve(source, { locale }, context) {
        const parts = await notificationParts(context.session(), source, localeOf(locale, context));
        return plainSentence(
          parts.map(({ text, member, ref }) => (member === null && ref === null ? text : { name: text })),
        );
      },
    }),
    summaryParts: t.field({
      type: [SummaryPart],
      description: 'The same sentence in parts, so that clients can link the people and things it names.',
      args: { locale: t.arg.string({ description: LOCALE_ARG }) },
      extensions: { size: { usual: 4, most: MOST_PARTS } },
      resolve: async (source, { locale }, context) => [
        ...(await notificationParts(context.session(), source, localeOf(locale, context))),
      ],
    }),
  }),
});

const NotificationConnection = defineConnection<NotificationSource, NotificationPage>(
  'Notification',
  Notification,
  'notifications',
);

builder.objectFields(NotificationConnection, (t) => ({
  unseen: t.field({
    type: UnreadCount,
    description:
      'Notifications of this list with an event that the reader has not seen, from the same read as the page.',
    extensions: UNREAD_COST,
    resolve: ({ page }) => page.countUnseen(),
  }),
  unread: t.field({
    type: UnreadCount,
    description: 'Notifications of this list that the reader has not read, from the same read as the page.',
    extensions: UNREAD_COST,
    resolve: ({ page }) => page.countUnread(),
  }),
  liveCursor: t.string({
    description:
      'Taken before the page was read: notificationEvents(after: liveCursor) returns everything that is not on the page, or NotificationsResync.',
    resolve: ({ page }) => page.liveCursor ?? '',
  }),
}));

export const NotificationFilter: InputRef<NotificationFilterInput> = builder
  .inputRef<NotificationFilterInput>('NotificationFilter')
  .implement({
    description: 'Selects notifications that meet all given conditions.',
    fields: (t) => {
      const inputs = {
        KINDS: (description: string) => t.field({ description, type: [NotificationKindEnum] }),
        FLAG: (description: string) => t.boolean({ description }),
        TIME: (description: string) => t.field({ description, type: 'DateTime' }),
      };
      return Object.fromEntries(
        NOTIFICATION_FILTERS.map(({ name, input, description }) => [name, inputs[input](description)]),
      );
    },
  });

builder.queryField('notifications', (t) =>
  t.field({
    type: NotificationConnection,
    description:
      "What concerns the viewer, of the last 90 days, newest first: what others did with the viewer's actions and comments, mentions, followers and assignments. Left out: what the viewer may not see, what members did whom the viewer mutes or has a block with, and what the viewer switched off.",
    args: {
      ...pageArgs(),
      filter: t.arg({ type: NotificationFilter, description: 'Only notifications that match.' }),
    },
    extensions: PAGE_COST,
    async resolve(_root, args, context, info) {
      const page = await readNotifications(context.core, context.session(), {
        ...args,
        withCounts: asksForField(info, 'unseen') || asksForField(info, 'unread'),
        withLiveCursor: asksForField(info, 'liveCursor'),
      });
      return toConnection(page, args);
    },
  }),
);

const NotificationPreference = builder.objectRef<EffectivePreference>('NotificationPreference').implement({
  description: 'Whether a member is notified of a kind of events by a channel.',
  fields: (t) => ({
    kind: t.expose('kind', { type: NotificationKindEnum, description: 'The kind of events.' }),
    type: t.exposeString('type', {
      nullable: true,
      description: 'Only about actions of this type; null: all others, and events without an action.',
    }),
    channel: t.expose('channel', { type: ChannelEnum, description: 'The channel.' }),
    isOn: t.exposeBoolean('isOn', { description: 'Whether the member is notified.' }),
    isLocked: t.exposeBoolean('isLocked', { description: 'The host decides; the member cannot change it.' }),
  }),
});

const QuietHours = builder.objectRef<QuietHoursRecord>('QuietHours').implement({
  description:
    'Hours in which a member wants neither mail nor push messages. What happens in them is due when they end.',
  fields: (t) => ({
    from: t.exposeString('from', { description: 'When they begin, such as 22:00.' }),
    to: t.exposeString('to', {
      description: 'When they end, such as 07:00; on the next day if it is not later.',
    }),
    timeZone: t.exposeString('timeZone', { description: 'The time zone, such as Europe/Berlin.' }),
    days: t.intList({
      nullable: true,
      description: 'Days on which they begin, Monday is 1, Sunday is 7; null: every day.',
      extensions: { maxBytes: 64 },
      resolve: ({ days }) => (days === null ? null : [...days]),
    }),
  }),
});

builder.objectFields(Viewer, (t) => ({
  notificationPreferences: t.field({
    type: [NotificationPreference],
    description:
      'How the viewer is notified: for each kind and channel, and for types of actions with a preference of their own.',
    extensions: {
      size: {
        usual: NOTIFICATION_KINDS.length * CHANNELS.length,
        most: NOTIFICATION_KINDS.length * CHANNELS.length + MAX_PREFERENCES,
      },
    },
    resolve: (_source, _args, context) => readPreferences(context.session()),
  }),
  quietHours: t.field({
    type: QuietHours,
    nullable: true,
    description: "The viewer's quiet hours; null: there are none.",
    async resolve(_source, _args, context) {
      const { userId } = context.identity();
      return (await context.session().load(NOTIFICATION_STATE, userId))?.quietHours ?? null;
    },
  }),
}));

const NotificationPreferenceInput = builder.inputType('NotificationPreferenceInput', {
  description: 'A preference of a member.',
  fields: (t) => ({
    kind: t.field({ type: NotificationKindEnum, required: true, description: 'The kind of events.' }),
    type: t.string({ description: 'Only about actions of this type. Default: all.' }),
    channel: t.field({ type: ChannelEnum, required: true, description: 'The channel.' }),
    isOn: t.boolean({ required: true, description: 'Whether the member is notified.' }),
  }),
});

builder.mutationFields((t) => ({
  markNotificationsSeen: t.field({
    type: Viewer,
    description: 'Marks everything up to this time as seen; never moves backwards.',
    args: {
      upTo: t.arg({
        type: 'DateTime',
        required: true,
        description: '`at` of the topmost notification shown.',
      }),
    },
    async resolve(_root, { upTo }, context) {
      await context.mutate((session) => markNotificationsSeen(context.core, session, upTo));
      return {};
    },
  }),
  markNotificationsRead: t.field({
    type: Viewer,
    description: `Marks everything up to a time as read, or single notifications, or both. A new event makes a notification unread again. At most ${String(MAX_MARKED)} ids.`,
    args: {
      upTo: t.arg({ type: 'DateTime', description: 'Everything up to this time; never moves backwards.' }),
      ids: t.arg.idList({
        description: 'Global ids of notifications of the viewer.',
        extensions: { maxEntries: MAX_MARKED } satisfies ListArgument,
      }),
    },
    async resolve(_root, { upTo, ids }, context) {
      const keys = (ids ?? []).map((id, index) => {
        const { userId, key } = parseAddedId(id, ['ids', index], 'Notification', keyOf);
        if (userId !== context.identity().userId)
          throw badInput('Not a notification of the viewer', ['ids', index]);
        return key;
      });
      await context.mutate((session) =>
        markNotificationsRead(context.core, session, { upTo: upTo ?? null, keys }),
      );
      return {};
    },
  }),
  setNotificationPreferences: t.field({
    type: Viewer,
    description: `Changes how the viewer is notified; preferences that are not named stay. At most ${String(MAX_PREFERENCES_PER_CALL)} at once, ${String(MAX_PREFERENCES)} in total. BAD_USER_INPUT for one that the host has locked.`,
    args: {
      preferences: t.arg({
        type: [NotificationPreferenceInput],
        required: true,
        description: 'The preferences to set.',
        extensions: { maxEntries: MAX_PREFERENCES_PER_CALL } satisfies ListArgument,
      }),
    },
    async resolve(_root, { preferences }, context) {
      await context.mutate((session) => setNotificationPreferences(context.core, session, preferences));
      return {};
    },
  }),
  setQuietHours: t.field({
    type: Viewer,
    description: "Sets the viewer's quiet hours. Without arguments there are none.",
    args: {
      from: t.arg.string({ description: 'When they begin, such as 22:00.' }),
      to: t.arg.string({ description: 'When they end, such as 07:00; on the next day if it is not later.' }),
      timeZone: t.arg.string({ description: 'The IANA name of a time zone, such as Europe/Berlin.' }),
      days: t.arg.intList({
        description: 'Days on which they begin, Monday is 1, Sunday is 7. Default: every day.',
      }),
    },
    async resolve(_root, args, context) {
      await context.mutate((session) => setQuietHours(context.core, session, args));
      return {};
    },
  }),
}));

const NotificationWithheldReason = describedEnum<NotificationWithheld>(
  'NotificationWithheldReason',
  'What keeps a notification out of the list.',
  {
    NO_EVENT: 'Nothing of the kind has happened, it was removed or hidden, or a block withholds it.',
    OUT_OF_WINDOW: 'It happened more than 90 days ago.',
    KEPT_AWAY: 'The member mutes everybody who did it.',
    NOT_VISIBLE: 'The member may not see the action, or it is hidden or gone.',
    SWITCHED_OFF: 'The member or the host has switched it off.',
  },
);

const NotificationNotSentReason = describedEnum<NotificationNotSent>(
  'NotificationNotSentReason',
  'What keeps a member from being notified outside of the list.',
  {
    NO_NOTIFICATION: 'There is no notification: withheldBy of the explanation says why.',
    SWITCHED_OFF: 'The member or the host has switched off the channel.',
    SEEN: 'The member has seen it.',
    READ: 'The member has read it.',
    QUIET_HOURS: 'The quiet hours of the member go on.',
  },
);

const NotificationSending = builder.objectRef<SendingSource>('NotificationSending').implement({
  description: 'Whether a member was notified of a notification by mail or push messages.',
  fields: (t) => ({
    channel: t.expose('channel', { type: ChannelEnum, description: 'EMAIL or PUSH.' }),
    notifiedAt: t.expose('notifiedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When `notification.due` last had it with this channel; null: not among the last 100 events.',
    }),
    dueAt: t.expose('dueAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the server decides about events that wait; null: none do.',
    }),
    withheldBy: t.field({
      type: [NotificationNotSentReason],
      description: 'Everything that would keep the member from being notified now.',
      extensions: { maxBytes: 512 },
      resolve: ({ withheldBy }) => [...withheldBy],
    }),
  }),
});

const NotificationExplanation = builder.objectRef<ExplanationSource>('NotificationExplanation').implement({
  description: 'Why there is or is no notification.',
  fields: (t) => ({
    isListed: t.boolean({
      description: 'Whether the list shows it now.',
      resolve: ({ notification }) => notification !== null,
    }),
    withheldBy: t.field({
      type: [NotificationWithheldReason],
      description: 'Everything that keeps it out of the list. Empty: it is in the list.',
      extensions: { maxBytes: 512 },
      resolve: ({ withheldBy }) => [...withheldBy],
    }),
    at: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of its newest event; null: it is not listed.',
      resolve: ({ notification }) => notification?.group.at ?? null,
    }),
    isSeen: t.boolean({
      nullable: true,
      description: 'Whether the member has seen it; null: it is not listed.',
      resolve: ({ notification }) => notification?.isSeen ?? null,
    }),
    isRead: t.boolean({
      nullable: true,
      description: 'Whether the member has read it; null: it is not listed.',
      resolve: ({ notification }) => notification?.isRead ?? null,
    }),
    preferences: t.field({
      type: [NotificationPreference],
      description: 'What decides for each channel.',
      extensions: { size: CHANNELS.length },
      resolve: ({ preferences }) => [...preferences],
    }),
    sending: t.field({
      type: [NotificationSending],
      description: 'Whether the member was notified by EMAIL and by PUSH, and why not.',
      extensions: { size: CHANNELS.length - 1 },
      resolve: ({ sending }) => [...sending],
    }),
  }),
});

builder.queryField('explainNotification', (t) =>
  t.field({
    type: NotificationExplanation,
    description:
      'Explains why there is or is no notification of a kind about an action, for the viewer or, for admins, for any member. Follows are explained without an action, for today.',
    args: {
      actionId: t.arg.id({ description: 'Global id of the action. Required except for FOLLOW.' }),
      kind: t.arg({ type: NotificationKindEnum, required: true, description: 'The kind of events.' }),
      memberId: t.arg.string({ description: 'Whose notifications. Default: the viewer.' }),
    },
    extensions: { reads: 50 satisfies Reads },
    resolve: (_root, { actionId, kind, memberId }, context) =>
      explainNotification(context.core, context.session(), {
        kind,
        actionId: actionId == null ? null : parseActionId(actionId, ['actionId']),
        memberId: memberId ?? null,
      }),
  }),
);
