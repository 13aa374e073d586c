import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, feedOf, inAnHour, publish, upsert } from '../support/feed-api.ts';
import { watchFeed } from '../support/live-clients.ts';
import { letMuteEnd } from '../support/mute-ends.ts';
import { uniqueName } from '../support/unique-name.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

const LIST = `mutes { id member { memberId name isMuted } ref { refId type label } type phrase until }`;
const ADD = `mutation ($target: MuteTargetInput!, $until: DateTime) {
  addMute(target: $target, until: $until) { ${LIST} }
}`;
const REMOVE = `mutation ($target: MuteTargetInput!) { removeMute(target: $target) { ${LIST} } }`;

interface Shown {
  readonly mutes: readonly { readonly id: string }[];
}

test('a viewer has one list of their mutes, with names', async () => {
  const [reader, bob, site] = [uniqueName('reader-'), uniqueName('bob-'), uniqueName('site-')];
  await upsert(app, { members: [{ memberId: bob, name: 'Bob' }] });
  const as = { sub: reader };
  const until = '2099-01-01T00:00:00.000Z';
  await ask(
    app,
    'mutation ($id: String!) { addMute(target: { memberId: $id }) { memberId } }',
    { id: bob },
    as,
  );
  await ask(app, ADD, { target: { phrase: 'Rain,  rain' }, until }, as);
  await ask(app, ADD, { target: { refId: site } }, as);
  const { addMute } = await ask<{ addMute: Shown }>(app, ADD, { target: { type: 'Posted' } }, as);
  const nothing = { member: null, ref: null, type: null, phrase: null, until: null };
  expect(addMute).toMatchObject({
    mutes: [
      { ...nothing, member: { memberId: bob, name: 'Bob', isMuted: true } },
      { ...nothing, ref: { refId: site, type: 'unknown', label: site } },
      { ...nothing, type: 'Posted' },
      { ...nothing, phrase: 'Rain,  rain', until },
    ],
  });
  expect(new Set(addMute.mutes.map(({ id }) => id)).size).toBe(4);
  const ends = await ask<{ addMute: Shown }>(app, ADD, { target: { memberId: bob }, until }, as);
  expect(ends.addMute).toMatchObject({
    mutes: [{ id: addMute.mutes[0]?.id, until }, {}, {}, {}],
  });
  for (const target of [{ phrase: 'RAIN rain' }, { memberId: bob }, { type: 'Posted' }])
    await ask(app, REMOVE, { target }, as);
  expect(await ask(app, `{ viewer { ${LIST} } }`, {}, as)).toMatchObject({
    viewer: { mutes: [{ id: addMute.mutes[1]?.id }] },
  });
  expect(await ask(app, `{ viewer { ${LIST} } }`, {}, { sub: uniqueName('other-') })).toEqual({
    viewer: { mutes: [] },
  });
});

test('watchers are notified when a mute ends, and the feed has what it withheld', async () => {
  const [reader, actor] = [uniqueName('reader-'), uniqueName('actor-')];
  await upsert(app, { pairs: [{ followerId: reader, refId: actor }] });
  const id = await publish(app, { actorId: actor });
  await app.idle();
  await using watcher = await watchFeed('WebSocket', app, reader);
  await ask(app, ADD, { target: { refId: actor }, until: inAnHour() }, { sub: reader });
  expect(await watcher.next()).toMatchObject({ __typename: 'FeedResync', reason: 'mutes' });
  await letMuteEnd(app.app, reader, { kind: 'REF', value: actor });
  expect(await watcher.next()).toMatchObject({ __typename: 'FeedResync', reason: 'mutes' });
  expect((await feedOf(app, reader)).map(({ action }) => action.id)).toEqual([id]);
});
