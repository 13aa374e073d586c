import { expect, test } from 'vitest';
import { startTestApp } from '../support/app.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';

const GROUPS = `query {
  feedGroups {
    edges { node {
      id relevancy isUnread count { count isExact } actorCount { count } actors { memberId name } summary
      items(first: 1) { id isUnread action { actor { name } } }
    } }
    total { count } unread { count } pageInfo { hasNextPage }
  }
}`;

test('groups that are shown again and again are as the first one who asks is shown them, whatever changes', async () => {
  await using app = await startTestApp();
  const people = ['ann', 'bea', 'cid'];
  await upsert(app, {
    members: people.map((memberId) => ({ memberId, name: memberId })),
    pairs: people.map((refId) => ({ followerId: 'reader', refId })),
  });
  const post = (actorId: string, objectId: string, more: object = {}): Promise<string> =>
    publish(app, {
      ...{ actorId, scope: 'FOLLOWERS' },
      conducted: '2026-01-01T00:00:00Z',
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId } },
      ...more,
    });
  const ids: string[] = [];
  for (const [n, actorId] of people.entries())
    for (const objectId of ['one', 'two']) ids.push(await post(actorId, `${objectId}${String(n > 1)}`));
  const as = { sub: 'reader' };
  const shown = async (query: string): Promise<unknown> =>
    (await ask<{ feedGroups: unknown }>(app, query, {}, as)).feedGroups;
  await app.idle();
  // Operations that come often are compiled, and what they show is kept.
  for (let n = 0; n < 40; n++) await shown(GROUPS);
  let asks = 0;
  const change = async (what: () => Promise<unknown>): Promise<void> => {
    const before = await shown(GROUPS);
    await what();
    await app.idle();
    const after = await shown(GROUPS);
    expect(after).toEqual(await shown(GROUPS.replace('query', `query Fresh${String(asks++)}`)));
    expect(await shown(GROUPS)).toEqual(after);
    expect(after).not.toEqual(before);
  };
  const [first = '', second = ''] = ids;
  const mutate =
    (mutation: string, sub = 'reader') =>
    () =>
      ask(app, `mutation { ${mutation} }`, {}, { sub });
  await change(() => post('bea', 'onefalse'));
  await change(() => upsert(app, { members: [{ memberId: 'ann', name: 'Anna' }] }));
  await change(mutate(`deleteAction(id: "${first}") { __typename }`, 'ann'));
  await change(mutate('markFeedRead(upTo: "2099-01-01T00:00:00Z") { memberId }'));
  await change(mutate('addMute(target: { memberId: "bea" }) { memberId }'));
  await change(mutate(`hideFeedItem(actionId: "${second}") { __typename }`));
});
