import { localeOf, LOCALE_ARG } from '../../actions/api/descriptor.ts';
import { DEFAULT_LOCALE, nearestLocale } from '../../../descriptors/locale.ts';
import { MAX_VIEWS } from '../../../descriptors/host-views.ts';
import { countUnreadOfViews } from '../../../feed/groups/view-counts.ts';
import { DECLARED, type FeedView } from '../../../feed/page/declared.ts';
import { feedViews } from '../../../feed/page/views.ts';
import type { UnreadCount as UnreadCountSource } from '../../../core/shapes.ts';
import { builder } from '../../../graphql/builder.ts';
import { sessionBatches } from '../../../feed/session/session-batches.ts';
import { Viewer } from '../../viewer/api.ts';
import { FeedOrderEnum } from './feed.ts';
import { UNREAD_COST, UnreadCount } from './unread-count.ts';

/** Of one view. Those of all views come from one read, however often an operation asks for them. */
const unreadOf = sessionBatches<string, UnreadCountSource | undefined>(
  async (core, session, names) => {
    const counts = await countUnreadOfViews(core, session);
    return names.map((name) => counts.get(name));
  },
  (name) => name,
);

const NOT_COUNTED: UnreadCountSource = { count: 0, isExact: false };

const View = builder.objectRef<FeedView>('View').implement({
  description:
    'A list of the configuration beside the feed: those of its items that match, in an order of its own.',
  fields: (t) => ({
    name: t.string({
      description: 'Pass it as `view` of feed, feedGroups, feedEvents, explainFeedItem and markFeedRead.',
      resolve: ({ name }) => name,
    }),
    label: t.string({
      description: 'What people call it.',
      args: { locale: t.arg.string({ description: LOCALE_ARG }) },
      resolve({ label }, { locale }, context) {
        const nearest = nearestLocale(localeOf(locale, context), [...label.keys()]);
        return label.get(nearest ?? DEFAULT_LOCALE) ?? label.get(DEFAULT_LOCALE) ?? '';
      },
    }),
    unread: t.field({
      type: UnreadCount,
      description:
        'Its unread items or, if it is shown in groups, its groups whose topmost item is unread, as its own pages count them. 0 and inexact if the configuration says that it is not counted. The counts of all views come from one read.',
      extensions: UNREAD_COST,
      resolve: async ({ name, isCounted }, _args, context) =>
        (isCounted ? await unreadOf(context.core, context.session(), name) : undefined) ?? NOT_COUNTED,
    }),
    isGrouped: t.boolean({
      description: 'Whether it is meant to be shown in groups: by feedGroups(view:).',
      resolve: ({ isGrouped }) => isGrouped,
    }),
    order: t.field({
      type: FeedOrderEnum,
      nullable: true,
      description: 'Its order; null if scores rank it.',
      resolve: ({ order }) => DECLARED.offeredOrders.find(({ name }) => name === order)?.name ?? null,
    }),
    isRanked: t.boolean({
      description:
        'Whether scores rank it: those of an expression of the configuration, or of a source of the host.',
      resolve: ({ rank, source }) => rank !== null || source !== null,
    }),
  }),
});

builder.objectFields(Viewer, (t) => ({
  views: t.field({
    type: [View],
    description: 'The views of the configuration, in its order.',
    extensions: { size: { usual: 6, most: MAX_VIEWS } },
    resolve: () => [...feedViews()],
  }),
}));
