import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Closer } from '../../src/lib/closer.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, feedOf, publish, upsert } from '../support/feed-api.ts';
import { watchFeed, type FeedWatcher, type Transport } from '../support/live-clients.ts';
import { uniqueName } from '../support/unique-name.ts';

const TRANSPORTS: readonly Transport[] = ['WebSocket', 'SSE'];

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

interface People {
  /** The id of somebody in this test. */
  id(name: string): string;
  /** Publishes by the actor about the site; others are given by name. */
  publish(input?: PublishInput): Promise<string>;
  /** Publishes something for these, once all that was published before has been delivered. */
  publishLast(names: readonly string[]): Promise<string>;
}

interface PublishInput {
  readonly recipients?: readonly string[];
  readonly mentions?: readonly string[];
  readonly [field: string]: unknown;
}

/** People of one test by how they stand to an actor and to a site that the actor's actions are about. */
async function settle(): Promise<People> {
  const tag = uniqueName('');
  const id = (name: string): string => `${name}${tag}`;
  const member = (name: string, team: string, department: string) => ({
    ...{ memberId: id(name), name, teamId: id(team), departmentId: id(department) },
  });
  await upsert(app, {
    members: [
      member('actor', 't', 'd'),
      member('team-mate', 't', 'other'),
      member('department-mate', 'other', 'd'),
    ],
    refs: [{ id: id('site'), type: 'site', label: 'Site' }],
    pairs: [
      { followerId: id('follower'), refId: id('actor') },
      { followerId: id('ref-follower'), refId: id('site') },
    ],
  });
  return {
    id,
    publish: ({ recipients, mentions, ...input } = {}) =>
      publish(app, {
        actorId: id('actor'),
        refs: [{ id: id('site'), type: 'site', label: 'Site' }],
        ...(recipients === undefined ? {} : { recipients: recipients.map(id) }),
        ...(mentions === undefined ? {} : { mentions: mentions.map(id) }),
        ...input,
      }),
    async publishLast(names) {
      await app.idle();
      return publish(app, { actorId: id('last'), scope: 'RESTRICTED', recipients: names.map(id) });
    },
  };
}

describe('the audience of a published action', () => {
  const READERS = [
    ...[
      'stranger',
      'actor',
      'follower',
      'ref-follower',
      'team-mate',
      'department-mate',
      'recipient',
      'mentioned',
    ],
  ];

  test.each([
    ['PUBLIC', {}, ['follower', 'ref-follower']],
    ['FOLLOWERS', {}, ['follower', 'ref-follower']],
    ['TEAM', {}, ['actor', 'team-mate']],
    ['DEPARTMENT', {}, ['actor', 'department-mate']],
    ['RESTRICTED', { recipients: ['recipient'] }, ['recipient']],
    ['PUBLIC', { mentions: ['mentioned'] }, ['follower', 'ref-follower', 'mentioned']],
    ['TEAM', { mentions: ['mentioned', 'team-mate'] }, ['actor', 'team-mate', 'mentioned']],
    ['RESTRICTED', { recipients: ['recipient'], mentions: ['mentioned'] }, ['recipient', 'mentioned']],
  ])('of scope %s with %j is exactly those it addresses', async (scope, more, addressed) => {
    const people = await settle();
    await using crowd = new Closer();
    const watchers = new Map<string, FeedWatcher>();
    for (const [n, reader] of READERS.entries())
      watchers.set(
        reader,
        crowd.own(await watchFeed(n % 2 === 0 ? 'SSE' : 'WebSocket', app, people.id(reader))),
      );
    const id = await people.publish({ scope, ...more });
    const last = await people.publishLast(READERS);
    for (const [reader, watcher] of watchers) {
      const expected = addressed.includes(reader) ? [id] : [];
      expect([reader, await watcher.addedUntil(last)]).toEqual([reader, expected]);
      const feed = await feedOf(app, people.id(reader));
      expect([reader, feed.map(({ action }) => action.id)]).toEqual([reader, [last, ...expected]]);
    }
  });
});

test('shows published actions exactly as the feed query does', async () => {
  const people = await settle();
  const reader = people.id('follower');
  await using watcher = await watchFeed('WebSocket', app, reader);
  const id = await people.publish({ mentions: ['follower'] });
  const event = await watcher.next();
  const [item] = await feedOf(app, reader);
  expect(item).toMatchObject({
    action: { id, refs: [{ label: 'Site', isFollowed: false }] },
    isUnread: true,
  });
  expect(event).toEqual({
    __typename: 'FeedItemAdded',
    cursor: expect.stringMatching(/./) as string,
    item,
  });
});

test('delivers only what passes the filter', async () => {
  const people = await settle();
  const reader = people.id('follower');
  const { custom, matching } = {
    custom: { verb: 'posted', objectType: 'post', objectId: 'p' },
    matching: { custom: { verb: 'posted', objectType: 'post', objectId: 'p', tags: ['hot'] } },
  };
  const hired = { applicantId: 'a', applicantName: 'A', positionId: 'p', positionName: 'P', tags: ['hot'] };
  const filters = {
    type: { types: ['Custom'] },
    tag: { tags: ['hot'] },
    actor: { actorIds: [people.id('actor'), 'nobody'] },
    ref: { refId: people.id('site') },
    read: { unreadOnly: true },
    all: { types: ['Custom'], tags: ['hot'], actorIds: [people.id('actor')], refId: people.id('site') },
  };
  await ask(
    app,
    'mutation ($now: DateTime!) { markFeedRead(upTo: $now) { lastRead } }',
    {
      now: new Date().toISOString(),
    },
    { sub: reader },
  );
  await using crowd = new Closer();
  const watchers = new Map<string, FeedWatcher>();
  for (const [name, filter] of Object.entries(filters))
    watchers.set(name, crowd.own(await watchFeed('WebSocket', app, reader, { filter })));
  const ids = new Map<string, string>();
  for (const [name, input] of Object.entries({
    type: { descriptor: { applicantHired: hired } },
    tag: { descriptor: { custom } },
    actor: { actorId: people.id('somebody'), descriptor: matching, mentions: ['follower'] },
    ref: { refs: [], descriptor: matching },
    read: { conducted: '2020-01-01T00:00:00Z', descriptor: matching },
  })) {
    ids.set(name, await people.publish(input));
    await app.idle();
  }
  const last = await people.publish({ descriptor: matching });
  for (const [name, watcher] of watchers) {
    const expected = [...ids].filter(([other]) => (name === 'all' ? other === 'read' : other !== name));
    expect([name, await watcher.addedUntil(last)]).toEqual([name, expected.map(([, id]) => id)]);
  }
});

test('loads everything again for every event', async () => {
  const people = await settle();
  const reader = people.id('follower');
  await using watcher = await watchFeed('WebSocket', app, reader);
  await people.publish();
  expect(await watcher.next()).toMatchObject({
    item: { action: { actor: { name: 'actor' }, refs: [{ label: 'Site', isFollowed: false }] } },
  });
  await upsert(app, {
    members: [{ memberId: people.id('actor'), name: 'Renamed' }],
    refs: [{ id: people.id('site'), type: 'site', label: 'Moved' }],
    pairs: [{ followerId: reader, refId: people.id('site') }],
  });
  await people.publish();
  expect(await watcher.next()).toMatchObject({
    item: { action: { actor: { name: 'Renamed' }, refs: [{ label: 'Moved', isFollowed: true }] } },
  });
});

test('delivers missed events once and in order after a cursor', async () => {
  const people = await settle();
  const reader = people.id('follower');
  const first = await watchFeed('WebSocket', app, reader);
  const seen = await people.publish();
  const { cursor } = await first.next();
  await first[Symbol.asyncDispose]();
  const missed = [];
  for (let n = 0; n < 3; n += 1) {
    missed.push(await people.publish());
    await app.idle();
  }
  for (const way of TRANSPORTS) {
    await using again = await watchFeed(way, app, reader, { after: cursor });
    const last = await people.publishLast(['follower']);
    expect(await again.addedUntil(last)).toEqual(missed);
    missed.push(last);
  }
  expect(missed).not.toContain(seen);
});

test("treats another reader's cursor as invalid, and shows nothing of theirs", async () => {
  const people = await settle();
  await using theirs = await watchFeed('WebSocket', app, people.id('follower'));
  await people.publish();
  const { cursor } = await theirs.next();
  await people.publish();
  await theirs.next();
  await using watcher = await watchFeed('WebSocket', app, people.id('stranger'), { after: cursor });
  expect(await watcher.next()).toMatchObject({ __typename: 'FeedResync', reason: 'invalid-cursor' });
  const last = await people.publishLast(['stranger']);
  expect(await watcher.addedUntil(last)).toEqual([]);
});

test('shows every action of a burst once', async () => {
  const people = await settle();
  await using watcher = await watchFeed('WebSocket', app, people.id('follower'));
  const inputs = Array.from({ length: 250 }, (_, n) => ({
    actorId: people.id('actor'),
    descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: String(n) } },
  }));
  const { publishActions } = await ask<{ publishActions: { action: { id: string } }[] }>(
    app,
    'mutation ($inputs: [PublishActionInput!]!) { publishActions(inputs: $inputs) { action { id } } }',
    { inputs },
  );
  const last = await people.publishLast(['follower']);
  const shown = await watcher.addedUntil(last);
  expect(shown.length).toBe(250);
  expect(new Set(shown)).toEqual(new Set(publishActions.map(({ action }) => action.id)));
});

test("removes the team's actions from a member who leaves it, and shows nothing new of the team", async () => {
  const people = await settle();
  await using watcher = await watchFeed('WebSocket', app, people.id('team-mate'));
  const id = await people.publish({ scope: 'TEAM' });
  expect(await watcher.next()).toMatchObject({ item: { action: { id }, reasons: ['TEAM'] } });
  await upsert(app, { members: [{ memberId: people.id('team-mate'), name: 'Gone', teamId: null }] });
  expect(await watcher.next()).toMatchObject({ __typename: 'FeedResync', reason: 'membership' });
  expect(await watcher.next()).toMatchObject({ __typename: 'FeedItemRemoved', actionId: id });
  await people.publish({ scope: 'TEAM' });
  const last = await people.publishLast(['team-mate']);
  expect(await watcher.addedUntil(last)).toEqual([]);
});
