import { dueNotificationsRepository } from '../../../parts/notifications/src/store/due.ts';
import { ObjectId } from 'mongodb';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hostEventOf, hostEventView, type HostEventView } from '../../../src/domain/host-event.ts';
import { storedId } from '../../../src/domain/stored-id.ts';
import { decideDue, dueNotifications } from '../../../parts/notifications/src/due.ts';
import type { Core } from '../../../src/core/core.ts';
import { publishAction } from '../../../src/features/publish/publish-action.ts';
import { addInteraction } from '../../../src/features/interactions/add-interaction.ts';
import { createRepositories } from '../../../src/app/repositories.ts';
import { encodeActionId, encodeInteractionId, encodeNotificationId } from '../../../src/domain/node-ids.ts';
import { Crash, crashingCollections } from '../../support/crashing.ts';
import { eventMover, eventsOf, moveEvents, poll } from '../../support/events.ts';
import { reporting, FAILING, runnerOf } from '../../support/jobs.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const HOUR_MS = 3_600_000;

let parts: Parts;
/** Hours from now on, by the clock of the workers. */
let hours: number;
beforeEach(async () => {
  parts = await openParts({ recordsEvents: true });
  hours = 0;
  await parts.services.upsertMembers(
    parts.service,
    ['ann', 'bea', 'cid'].map((memberId) => ({ memberId, name: memberId })),
  );
});
afterEach(async () => parts[Symbol.asyncDispose]());

const now = (): Date => new Date(Date.now() + hours * HOUR_MS);

/** Moves what happened, and notes whom it concerns. */
async function note(notifyAfter = '0s'): Promise<void> {
  await parts.fanOut();
  await using mover = eventMover(parts.database.collections, { env: { NOTIFY_AFTER: notifyAfter } });
  while (await mover.round(new Date(now().getTime() + 1_000)));
}

/** Does what is due then. */
async function tell({
  notifyAfter = '0s',
  core = parts.core,
  decide = decideDue,
  logger = FAILING,
} = {}): Promise<void> {
  await using worker = runnerOf((setup) => dueNotifications(setup, decide), core, {
    logger,
    env: { NOTIFY_AFTER: notifyAfter },
  });
  while (await worker.round(new Date(now().getTime() + 2_000)));
}

interface Due {
  readonly memberId: string;
  readonly notifications: readonly {
    readonly id: string;
    readonly kind: string;
    readonly actionId: string | null;
    readonly eventIds: readonly string[];
    readonly channels: readonly string[];
  }[];
}

/** All that members were notified so far. */
async function due(): Promise<readonly Due[]> {
  await moveEvents(parts.database.collections);
  const views: HostEventView[] = [];
  for await (const view of poll(parts, { after: null })) views.push(view);
  return views.filter(({ type }) => type === 'notification.due').map(({ data }) => data as unknown as Due);
}

const kindsOf = (notified: readonly Due[]): readonly string[] =>
  notified
    .flatMap(({ memberId, notifications }) => notifications.map(({ kind }) => `${memberId} ${kind}`))
    .sort();

const kinds = async (): Promise<readonly string[]> => {
  await note();
  await tell();
  return kindsOf(await due());
};

async function published(input: object = {}): Promise<string> {
  return (await parts.publish({ actorId: 'ann', scope: 'PUBLIC', ...input })).action.id;
}

async function add(userId: string, actionId: string, kind: string, more: object = {}): Promise<string> {
  const { interaction } = await parts.services.addInteraction(parts.session(userId), {
    ...{ actionId, kind },
    ...(kind === 'COMMENT' ? { text: 'hello' } : {}),
    ...(kind === 'REACTION' ? { reaction: '👍' } : {}),
    ...more,
  });
  return interaction.id;
}

describe('a member is notified', () => {
  test('of what others do with their action, and of nothing that they do themselves', async () => {
    const actionId = await published();
    const ids: string[] = [];
    for (const kind of ['COMMENT', 'LIKE', 'REACTION', 'RESHARE']) ids.push(await add('bea', actionId, kind));
    await add('ann', actionId, 'COMMENT');
    expect(await kinds()).toEqual(['ann COMMENT', 'ann LIKE', 'ann REACTION', 'ann RESHARE']);
    const [{ memberId, notifications } = { memberId: '', notifications: [] }] = await due();
    expect(notifications.find(({ kind }) => kind === 'LIKE')).toEqual({
      id: encodeNotificationId(memberId, `LIKE:${actionId}`),
      ...{ kind: 'LIKE', actionId: encodeActionId(actionId) },
      ...{ eventIds: [encodeInteractionId(ids[1] ?? '')], channels: ['PUSH'] },
    });
  });

  test('of a reply and a mention in a comment, which count before the comment', async () => {
    const actionId = await published();
    const parentId = await add('bea', actionId, 'COMMENT', { mentions: ['ann'] });
    await add('cid', actionId, 'COMMENT', { parentId });
    expect(await kinds()).toEqual(['ann COMMENT', 'ann MENTION', 'bea REPLY']);
  });

  test('when an action names them, or an edit does, each once', async () => {
    const actionId = await published({ scope: 'RESTRICTED', mentions: ['bea'], recipients: ['cid'] });
    expect(await kinds()).toEqual(['bea MENTION', 'cid MENTION']);
    const mentions = ['bea', 'dan'];
    await parts.services.updateAction(parts.session('service', 'service'), actionId, { mentions });
    expect(await kinds()).toEqual(['bea MENTION', 'cid MENTION', 'dan MENTION']);
    const [, , third] = await due();
    expect(third?.notifications).toMatchObject([{ eventIds: [encodeActionId(actionId)] }]);
  });

  test('when the type of an action says so', async () => {
    const asked = {
      applicantId: 'cid',
      applicantName: 'Cid',
      requestedFromId: 'bea',
      requestedFromName: 'Bea',
    };
    await parts.services.follow(parts.session('cid'), 'ann', 0);
    await published({ descriptor: { applicantRatingRequested: asked } });
    expect(await kinds()).toEqual(['ann FOLLOW', 'bea OWN']);
  });

  test('when the type of an action says so that is in no feed, because nobody gets it, or they mute its actor', async () => {
    const asked = (requestedFromId: string) => ({
      ...{ applicantId: 'cid', applicantName: 'Cid', requestedFromId, requestedFromName: 'X' },
    });
    await published({ descriptor: { applicantRatingRequested: asked('bea') } });
    await parts.services.addMute(parts.session('fay'), { memberId: 'ann' }, null);
    await published({ mentions: ['fay'], descriptor: { applicantRatingRequested: asked('dan') } });
    // Not what goes through a pass of its own: it was hidden before it was delivered.
    const hidden = await published({ descriptor: { applicantRatingRequested: asked('eve') } });
    const admin = parts.session('root', 'admin');
    await parts.services.hideAction(admin, hidden, null);
    await parts.services.unhideAction(admin, hidden);
    expect(await kinds()).toEqual(['bea OWN', 'dan OWN', 'eve OWN']);
  });

  test('of a follower and of an assignment, whose events have no global id', async () => {
    const { services, service, session } = parts;
    await services.follow(session('bea'), 'ann', 0);
    // Somewhere, which is nobody.
    await services.follow(session('bea'), 'berlin', 0);
    await services.followMany(service, [{ followerId: 'cid', refId: 'project', isAssigned: true }]);
    expect(await kinds()).toEqual(['ann FOLLOW', 'cid ASSIGNED']);
    for (const { notifications } of await due())
      expect(notifications).toMatchObject([
        { actionId: null, eventIds: [expect.stringMatching(/^[\da-f]{24}$/)] },
      ]);
  });

  test('when what they follow already is assigned to them', async () => {
    const { services, service, session } = parts;
    const assign = (isAssigned: boolean) =>
      services.followMany(service, [{ followerId: 'cid', refId: 'project', isAssigned }]);
    await services.follow(session('cid'), 'project', 0);
    expect(await kinds()).toEqual([]);
    await parts.database.collections.follows.updateMany({}, { $set: { openedAt: new Date(0) } });
    for (const isAssigned of [true, true]) await assign(isAssigned);
    expect(await kinds()).toEqual(['cid ASSIGNED']);
    const events: string[] = [];
    for await (const { type } of poll(parts, { after: null })) events.push(type);
    expect(events.filter((type) => type.startsWith('follow.'))).toEqual(['follow.opened', 'follow.assigned']);
  });

  test('of a comment that was held, once a moderator shows it', async () => {
    const beforeInteract = () => Promise.resolve({ verdict: 'hold' } as const);
    const core: Core = { ...parts.core, hooks: { beforePublish: null, beforeInteract } };
    const comment = { actionId: await published(), kind: 'COMMENT', text: 'hello' };
    const { interaction } = await addInteraction(core, parts.session('bea'), comment);
    expect(await kinds()).toEqual([]);
    // Days later, after the list was opened.
    const { interactions } = parts.database.collections;
    await interactions.updateOne({}, { $set: { at: new Date(Date.now() - 49 * HOUR_MS) } });
    await parts.services.markNotificationsSeen(parts.session('ann'), new Date());
    await parts.services.unhideInteraction(parts.session('mona', 'moderator'), interaction.id);
    expect(await kinds()).toEqual(['ann COMMENT']);
  });

  test('of an action that names them and was held, once a moderator shows it', async () => {
    const beforePublish = () => Promise.resolve({ verdict: 'hold' } as const);
    const core: Core = { ...parts.core, hooks: { beforePublish, beforeInteract: null } };
    const { action } = await publishAction(core, parts.service, {
      ...{ actorId: 'ann', scope: 'PUBLIC', mentions: ['bea'], refs: [] },
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: '1' } },
    });
    expect(await kinds()).toEqual([]);
    const { actions } = parts.database.collections;
    const then = new Date(Date.now() - 49 * HOUR_MS);
    await actions.updateOne({}, { $set: { conducted: then, recorded: then, latest: then } });
    await parts.services.markNotificationsSeen(parts.session('bea'), new Date());
    await parts.services.unhideAction(parts.session('mona', 'moderator'), action.id);
    expect(await kinds()).toEqual(['bea MENTION']);
  });
});

test('the first interaction with an old action is notified even before the action says that it has any', async () => {
  const actionId = await published();
  await add('bea', actionId, 'LIKE');
  await note();
  const latest = new Date(Date.now() - 100 * 24 * HOUR_MS);
  await parts.database.collections.actions.updateOne(
    { _id: new ObjectId(actionId) },
    { $set: { latest }, $unset: { isBumped: 1 } },
  );
  await tell();
  expect(kindsOf(await due())).toEqual(['ann LIKE']);
});

describe('a member is not notified', () => {
  test('of what they have seen or read meanwhile, alone or with the rest', async () => {
    const { services, session } = parts;
    const [first, second] = [await published(), await published()];
    await add('bea', first, 'LIKE');
    await add('bea', second, 'LIKE');
    await note();
    await services.markNotificationsRead(session('ann'), { upTo: null, keys: [`LIKE:${first}`] });
    await add('bea', second, 'COMMENT');
    await note();
    await tell();
    expect(kindsOf(await due())).toEqual(['ann COMMENT', 'ann LIKE']);
    await add('cid', first, 'LIKE');
    await note();
    await services.markNotificationsSeen(session('ann'), new Date());
    hours = 0.1;
    await tell();
    expect(await due()).toHaveLength(1);
  });

  test('of what is taken back, hidden, muted or blocked meanwhile', async () => {
    const { services, session } = parts;
    const actionId = await published();
    const [comment] = [await add('bea', actionId, 'COMMENT'), await add('bea', actionId, 'LIKE')];
    await add('cid', actionId, 'REACTION');
    await add('dan', actionId, 'RESHARE');
    await note();
    await services.removeInteraction(session('bea'), { own: { actionId, kind: 'LIKE' } });
    await services.hideInteraction(session('admin', 'admin'), comment, null);
    await services.addMute(session('ann'), { memberId: 'cid' }, null);
    await services.blockMember(session('dan'), 'ann');
    await tell();
    expect(await due()).toEqual([]);
    const [state] = await parts.database.collections.notificationStates.find({ _id: 'ann' }).toArray();
    expect(state).not.toHaveProperty('due');
    expect(state).not.toHaveProperty('pending');
    // Once it is given again, it is notified.
    await add('bea', actionId, 'LIKE');
    expect(await kinds()).toEqual(['ann LIKE']);
  });

  test('of what is long ago', async () => {
    const conducted = new Date(Date.now() - 25 * HOUR_MS);
    const old = await published({ conducted, mentions: ['cid'] });
    expect(await kinds()).toEqual([]);
    await add('bea', old, 'LIKE');
    expect(await kinds()).toEqual(['ann LIKE']);
  });

  test('twice of the same: a like that is given again, or events that are moved once more', async () => {
    const actionId = await published({ mentions: ['cid'] });
    await add('bea', actionId, 'LIKE');
    expect(await kinds()).toEqual(['ann LIKE', 'cid MENTION']);
    await parts.services.removeInteraction(parts.session('bea'), { own: { actionId, kind: 'LIKE' } });
    await add('bea', actionId, 'LIKE');
    const events = await eventsOf(parts);
    hours = 0.1;
    await dueNotificationsRepository(parts.database.collections).note(events, { now: now(), dueAt: now() });
    expect(await kinds()).toEqual(['ann LIKE', 'cid MENTION']);
  });

  test('twice of what is moved once more, however much came since', async () => {
    const follows = Array.from({ length: 100 }, (_, n) => ({ followerId: `f${String(n)}`, refId: 'ann' }));
    await parts.services.followMany(parts.service, follows);
    await kinds();
    const actionId = await published();
    for (const kind of ['LIKE', 'COMMENT']) await add('bea', actionId, kind);
    hours = 0.1;
    const expected = ['ann COMMENT', 'ann FOLLOW', 'ann LIKE'];
    expect(await kinds()).toEqual(expected);
    const events = await eventsOf(parts);
    await dueNotificationsRepository(parts.database.collections).note(events, { now: now(), dueAt: now() });
    expect(await kinds()).toEqual(expected);
  });

  test('of what the list showed when it was opened, unlike what the list has off', async () => {
    await parts.services.setNotificationPreferences(parts.session('ann'), [
      { kind: 'COMMENT', channel: 'IN_APP', isOn: false },
    ]);
    const actionId = await published();
    for (const kind of ['LIKE', 'COMMENT']) await add('bea', actionId, kind);
    await note();
    await parts.services.markNotificationsSeen(parts.session('ann'), new Date());
    await parts.services.markNotificationsRead(parts.session('ann'), { upTo: new Date(), keys: [] });
    await tell();
    expect(kindsOf(await due())).toEqual(['ann COMMENT']);
  });

  test('again of a follow that ends and is taken up again', async () => {
    const { services, session } = parts;
    for (let cycle = 0; cycle < 3; cycle += 1) {
      await services.follow(session('bea'), 'ann', 0);
      hours = cycle / 10;
      expect(await kinds()).toEqual(['ann FOLLOW']);
      await services.unfollow(session('bea'), 'ann', true);
    }
  });

  test('by a channel that is off; one that only the list has off is notified all the same', async () => {
    const set = (kind: string, ...channels: readonly (readonly [string, boolean])[]) =>
      parts.services.setNotificationPreferences(
        parts.session('ann'),
        channels.map(([channel, isOn]) => ({ kind, channel, isOn })),
      );
    await set('LIKE', ['PUSH', false]);
    await set('COMMENT', ['IN_APP', false], ['PUSH', false], ['EMAIL', true]);
    await set('REACTION', ['EMAIL', true]);
    const actionId = await published();
    for (const kind of ['LIKE', 'COMMENT', 'REACTION']) await add('bea', actionId, kind);
    await note();
    await tell();
    const notified = (await due()).flatMap(({ notifications }) => notifications);
    expect(Object.fromEntries(notified.map(({ kind, channels }) => [kind, channels]))).toEqual({
      COMMENT: ['EMAIL'],
      REACTION: ['EMAIL', 'PUSH'],
    });
  });
});

test('quiet hours end with one event for all that happened in them', async () => {
  const from = new Date(Date.now() - HOUR_MS).toISOString().slice(11, 16);
  const to = new Date(Date.now() + 6 * HOUR_MS).toISOString().slice(11, 16);
  await parts.services.setQuietHours(parts.session('ann'), { from, to, timeZone: 'UTC' });
  const actionId = await published();
  await add('bea', actionId, 'LIKE');
  expect(await kinds()).toEqual([]);
  hours = 3;
  await add('cid', actionId, 'LIKE');
  await add('cid', actionId, 'COMMENT');
  expect(await kinds()).toEqual([]);
  hours = 6.1;
  expect(await kinds()).toEqual(['ann COMMENT', 'ann LIKE']);
  const notified = await due();
  expect(notified).toHaveLength(1);
  expect(notified[0]?.notifications.find(({ kind }) => kind === 'LIKE')?.eventIds).toHaveLength(2);
});

test.each([
  ['forward', 'Europe/Berlin', '2040-03-24T21:00Z', '2040-03-25T05:00Z'],
  ['back', 'Europe/Berlin', '2040-10-27T20:00Z', '2040-10-28T06:00Z'],
  ['forward', 'America/New_York', '2040-03-11T03:00Z', '2040-03-11T11:00Z'],
  ['back', 'America/New_York', '2040-11-04T02:00Z', '2040-11-04T12:00Z'],
  ['half an hour forward', 'Australia/Lord_Howe', '2040-10-06T11:30Z', '2040-10-06T20:00Z'],
  ['half an hour back', 'Australia/Lord_Howe', '2040-03-31T11:00Z', '2040-03-31T20:30Z'],
])('a night of quiet hours ends by the clock on the wall if it is set %s in it: %s', async (...of) => {
  const [, timeZone, begin, end] = of;
  const saturday = { from: '22:00', to: '07:00', timeZone, days: [6] };
  await parts.services.setQuietHours(parts.session('ann'), saturday);
  const actionId = await published();
  const kindsAt = async (time: string, after: number): Promise<readonly string[]> => {
    hours = 0;
    await note();
    hours = (Date.parse(time) - Date.now()) / HOUR_MS + after;
    await tell();
    return kindsOf(await due());
  };
  await add('bea', actionId, 'LIKE');
  expect(await kindsAt(begin, -23)).toEqual(['ann LIKE']);
  await add('bea', actionId, 'COMMENT');
  expect(await kindsAt(begin, 0)).toEqual(['ann LIKE']);
  expect(await kindsAt(end, -0.2)).toEqual(['ann LIKE']);
  expect(await kindsAt(end, 0)).toEqual(['ann COMMENT', 'ann LIKE']);
});

test.each([
  ['are removed', {}],
  ['end earlier', { to: new Date(Date.now() - HOUR_MS).toISOString().slice(11, 16) }],
])('when quiet hours %s, what waited for their end is notified', async (_what, change) => {
  const at = (after: number): string => new Date(Date.now() + after * HOUR_MS).toISOString().slice(11, 16);
  const quiet = { from: at(-2), to: at(6), timeZone: 'UTC' };
  await parts.services.setQuietHours(parts.session('ann'), quiet);
  const actionId = await published();
  await add('bea', actionId, 'LIKE');
  expect(await kinds()).toEqual([]);
  await parts.services.setQuietHours(parts.session('ann'), 'to' in change ? { ...quiet, ...change } : change);
  await tell();
  expect(kindsOf(await due())).toEqual(['ann LIKE']);
});

test('the first event is notified at once, and what comes within a minute after it together', async () => {
  const actionId = await published();
  await add('bea', actionId, 'LIKE');
  expect(await kinds()).toEqual(['ann LIKE']);
  for (const [userId, kind] of [
    ['cid', 'LIKE'],
    ['dan', 'LIKE'],
    ['dan', 'COMMENT'],
  ] as const) {
    await add(userId, actionId, kind);
    await kinds();
  }
  expect(await due()).toHaveLength(1);
  hours = 0.02;
  await tell();
  const [, second, ...others] = await due();
  const counts = second?.notifications.map(({ kind, eventIds }) => [kind, eventIds.length]) ?? [];
  expect(Object.fromEntries(counts)).toEqual({ LIKE: 2, COMMENT: 1 });
  expect(others).toEqual([]);
});

test('new quiet hours hold back what is gathered, and do not hurry it', async () => {
  const at = (after: number): string => new Date(Date.now() + after * HOUR_MS).toISOString().slice(11, 16);
  const { services, session } = parts;
  const actionId = await published();
  await add('bea', actionId, 'LIKE');
  await note('1h');
  await services.setQuietHours(session('ann'), { from: at(-3), to: at(-2), timeZone: 'UTC' });
  await tell();
  expect(await due()).toEqual([]);
  await services.setQuietHours(session('ann'), { from: at(0.5), to: at(2), timeZone: 'UTC' });
  hours = 1.1;
  await tell();
  expect(await due()).toEqual([]);
  hours = 2.1;
  await tell();
  expect(kindsOf(await due())).toEqual(['ann LIKE']);
});

test('events are gathered for a time, which later ones do not prolong', async () => {
  const notifyAfter = '2h';
  const actionId = await published();
  await add('bea', actionId, 'LIKE');
  await note(notifyAfter);
  hours = 1;
  await add('cid', actionId, 'LIKE');
  await note(notifyAfter);
  await tell({ notifyAfter });
  expect(await due()).toEqual([]);
  hours = 2.1;
  await tell({ notifyAfter });
  const notified = await due();
  expect(notified.map(({ notifications }) => notifications[0]?.eventIds.length)).toEqual([2]);
});

test.each([
  ['the claim', 'notificationStates'],
  ['the event', 'eventOutbox'],
])(
  'a process that dies after the write of %s tells the member once, and of what comes then later',
  async (_write, written) => {
    const actionId = await published();
    await add('bea', actionId, 'LIKE');
    await note();
    const { collections } = parts.database;
    const dying = crashingCollections(collections, 1, (collection) => collection === written);
    const core = { ...parts.core, ...createRepositories(dying, { recordsEvents: true }) };
    const errors: unknown[] = [];
    await tell({ core, logger: reporting((error) => errors.push(error)) }).catch((error: unknown) =>
      errors.push(error),
    );
    expect(errors).toContainEqual(expect.any(Crash));
    await add('cid', actionId, 'LIKE');
    await note();
    for (const later of [1, 2]) {
      hours = later;
      await tell();
    }
    const notified = await due();
    const numbers = notified.map(({ notifications }) => notifications.map(({ eventIds }) => eventIds.length));
    expect(numbers).toEqual([[1], [1]]);
  },
);

test('members are decided beside each other', async () => {
  const members = ['ann', 'bea', 'cid'];
  await published({ actorId: 'dan', mentions: members });
  await note();
  let begun = 0;
  let noteAllBegun: () => void = () => undefined;
  const allBegun = new Promise<void>((resolve) => (noteAllBegun = resolve));
  const decideDue = async () => {
    begun += 1;
    if (begun === members.length) noteAllBegun();
    await allBegun;
    return [];
  };
  await using worker = runnerOf((setup) => dueNotifications(setup, decideDue), parts.core, {
    env: { NOTIFY_AFTER: '0s' },
  });
  const round = worker.round(new Date(now().getTime() + 2_000));
  try {
    await expect.poll(() => begun).toBe(members.length);
  } finally {
    noteAllBegun();
    await round;
  }
});

test('what cannot be read is tried again later, and the others are notified now', async () => {
  await published({ mentions: ['bea', 'cid'] });
  await note();
  const errors: unknown[] = [];
  const decide: typeof decideDue = (core, member) =>
    member.id === 'bea' ? Promise.reject(new Error('bea cannot be read')) : decideDue(core, member);
  await tell({ decide, logger: reporting((error) => errors.push(error)) });
  expect(errors).toMatchObject([{ message: 'bea cannot be read' }]);
  expect(kindsOf(await due())).toEqual(['cid MENTION']);
  hours = 1;
  await tell();
  expect(kindsOf(await due())).toEqual(['bea MENTION', 'cid MENTION']);
});

test('an explanation says when the member was notified by which channel, what waits, and what would keep it back', async () => {
  const { services, session } = parts;
  const actionId = await published();
  const explain = async () => {
    const of = { kind: 'LIKE', actionId, memberId: null } as const;
    return (await services.explainNotification(session('ann'), of)).sending;
  };
  const none = { notifiedAt: null, dueAt: null };
  expect(await explain()).toEqual([
    { channel: 'EMAIL', ...none, withheldBy: ['NO_NOTIFICATION', 'SWITCHED_OFF'] },
    { channel: 'PUSH', ...none, withheldBy: ['NO_NOTIFICATION'] },
  ]);
  await add('bea', actionId, 'LIKE');
  await note('1h');
  const dueAt = expect.any(Date) as Date;
  expect((await explain())[1]).toEqual({ channel: 'PUSH', notifiedAt: null, dueAt, withheldBy: [] });
  hours = 2;
  await tell();
  const notifiedAt = expect.any(Date) as Date;
  expect((await explain())[1]).toEqual({ channel: 'PUSH', notifiedAt, dueAt: null, withheldBy: [] });
  await services.markNotificationsSeen(session('ann'), new Date());
  await services.markNotificationsRead(session('ann'), { upTo: new Date(), keys: [] });
  const from = new Date(Date.now() - HOUR_MS).toISOString().slice(11, 16);
  const to = new Date(Date.now() + HOUR_MS).toISOString().slice(11, 16);
  await services.setQuietHours(session('ann'), { from, to, timeZone: 'UTC' });
  const reasons = ['SEEN', 'READ', 'QUIET_HOURS'];
  expect((await explain()).map(({ withheldBy }) => withheldBy)).toEqual([
    ['SWITCHED_OFF', ...reasons],
    reasons,
  ]);
  expect((await explain())[0]?.notifiedAt).toBeNull();
});

test('an erased member is notified nothing, and named in no event', async () => {
  const actionId = await published({ mentions: ['bea', 'cid'] });
  await note();
  await parts.services.eraseMember(parts.admin, 'bea');
  await add('bea', actionId, 'LIKE');
  await tell();
  await moveEvents(parts.database.collections);
  await parts.services.eraseMember(parts.admin, 'cid');
  const names = (await due()).map(({ memberId }) => memberId);
  expect(names).toEqual([expect.stringMatching(/^erased:/)]);
});

test('ids are those of the API, without the tenant', () => {
  const notifications = [
    { key: 'FOLLOW:2026-11-27', kind: 'FOLLOW', actionId: null, eventIds: [], channels: ['PUSH'] },
  ] as const;
  const facts = { memberId: storedId('acme', 'ann'), notifications };
  const event = { id: 'one', type: 'notification.due', at: new Date(), facts } as const;
  const { data } = hostEventView(hostEventOf(event), () => null);
  expect(data['notifications']).toMatchObject([{ id: encodeNotificationId('ann', 'FOLLOW:2026-11-27') }]);
});
