import { notificationsOf } from '../../parts/notifications/src/store/notifications.ts';
import type { ReaderSession } from '../../src/feed/session/reader-session.ts';
import type { NotificationFilterInput } from '../../parts/notifications/src/filter.ts';
import type { Notification } from '../../parts/notifications/src/groups.ts';
import type { Model, ModelReader } from './model.ts';
import { notificationsFor, type ModelNotification } from './model-concerns.ts';
import { readAll } from './model-action-views.ts';
import { during, expectOutcome, session, type Run, type StepTo } from './model-run.ts';
import type { Services } from './services.ts';

type Label = (id: string) => string;

const ofExpected = (label: Label, one: ModelNotification): unknown => ({
  ...{ kind: one.kind, of: one.action === null ? (one.refId ?? one.of) : label(one.of) },
  ...{ at: new Date(one.at).toISOString(), actors: one.actors, count: one.count },
  ...{ isSeen: one.isSeen, isRead: one.isRead },
});

const ofActual = (label: Label, { group, isSeen, isRead }: Notification): unknown => ({
  ...{
    kind: group.kind,
    of: group.actionId === null ? (group.refId ?? group.key.slice(7)) : label(group.actionId),
  },
  ...{
    at: group.at.toISOString(),
    actors: [...new Set(group.events.flatMap(({ actorId }) => actorId ?? []))].sort(),
  },
  ...{ count: group.events.length, isSeen, isRead },
});

interface FilterCase {
  readonly filter: NotificationFilterInput;
  readonly passes: (one: ModelNotification) => boolean;
}

function filtersFor(all: readonly ModelNotification[]): Readonly<Record<string, FilterCase>> {
  const middle = all[Math.floor(all.length / 2)]?.at ?? 0;
  return {
    all: { filter: {}, passes: () => true },
    unread: { filter: { unreadOnly: true }, passes: ({ isRead }) => !isRead },
    kinds: {
      filter: { kinds: ['COMMENT', 'FOLLOW'] },
      passes: ({ kind }) => kind === 'COMMENT' || kind === 'FOLLOW',
    },
    since: { filter: { since: new Date(middle) }, passes: ({ at }) => at >= middle },
    until: { filter: { until: new Date(middle) }, passes: ({ at }) => at < middle },
  };
}

const counted = (count: number): unknown => ({ count, isExact: true });

/** What the definition says is in the list, in all ways. */
export function expectedNotifications(model: Model, reader: ModelReader, label: Label): unknown {
  const all = notificationsFor(model, reader);
  return {
    ...Object.fromEntries(
      Object.entries(filtersFor(all)).map(([name, { passes }]) => {
        const some = all.filter(passes);
        return [
          name,
          {
            list: some.map((one) => ofExpected(label, one)),
            unseen: counted(some.filter(({ isSeen }) => !isSeen).length),
            unread: counted(some.filter(({ isRead }) => !isRead).length),
          },
        ];
      }),
    ),
    byId: all.map((one) => ofExpected(label, one)),
  };
}

/** What the server shows, page by page, with the counts of the first, and each by its id. */
export async function actualNotifications(
  services: Services,
  reader: ReaderSession,
  {
    label,
    pageSize,
    expected,
  }: { readonly label: Label; readonly pageSize: number; readonly expected: readonly ModelNotification[] },
): Promise<unknown> {
  const views: Record<string, unknown> = {};
  for (const [name, { filter }] of Object.entries(filtersFor(expected))) {
    const list = await readAll((args) => services.readNotifications(reader, { ...args, filter }), pageSize);
    const page = await services.readNotifications(reader, { first: pageSize, filter, withCounts: true });
    views[name] = {
      list: list.map((one) => ofActual(label, one)),
      unseen: await page.countUnseen(),
      unread: await page.countUnread(),
    };
  }
  const found = await services.findNotifications(
    reader,
    expected.map(({ key }) => key),
  );
  views['byId'] = found.map((one) => (one === null ? null : ofActual(label, one)));
  return views;
}

/** A number picks one of the list; `all`: everything until now. */
export async function markNotifications(
  run: Run,
  { do: what, by, upTo }: StepTo<'seeNotifications' | 'readNotifications' | 'readNotification'>,
): Promise<void> {
  const reader = run.reader(by);
  const all = notificationsFor(run.model, reader);
  const one = upTo === 'all' ? undefined : all[upTo % Math.max(1, all.length)];
  const { services } = run.parts;
  const { notifications: marks } = reader;
  if (what === 'readNotification') {
    if (one === undefined) return;
    await services.markNotificationsRead(session(run, by), { upTo: null, keys: [one.key] });
    marks.read.set(one.key, one.at);
    return;
  }
  const until = new Date(one?.at ?? Date.now() + 60_000);
  const isSeen = what === 'seeNotifications';
  const { instant } = await during(() =>
    isSeen
      ? services.markNotificationsSeen(session(run, by), until)
      : services.markNotificationsRead(session(run, by), { upTo: until, keys: [] }),
  );
  const stored = await notificationsOf(run.parts.repositories).state(reader.userId);
  const at = one?.at ?? instant((isSeen ? stored.seenAt : stored.readAt) ?? undefined);
  if (isSeen) marks.seenAt = Math.max(marks.seenAt ?? 0, at);
  else marks.readAt = Math.max(marks.readAt ?? 0, at);
}

export async function preferNotifications(run: Run, step: StepTo<'preferNotifications'>): Promise<void> {
  const { by, kind, type, isOn } = step;
  await expectOutcome(
    run.parts.services.setNotificationPreferences(session(run, by), [
      { kind, type, channel: 'IN_APP', isOn },
    ]),
    null,
  );
  run.reader(by).notifications.preferences.set(`${kind} ${type ?? ''}`, isOn);
}
