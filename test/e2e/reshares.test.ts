import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { uniqueName } from '../support/unique-name.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app[Symbol.asyncDispose]());

test('an item says whom its reader follows and who reshared it', async () => {
  const tag = uniqueName(' ');
  const [reader, ann, bob] = [`reader${tag}`, `ann${tag}`, `bob${tag}`];
  await upsert(app, {
    members: [
      { memberId: ann, name: 'Ann' },
      { memberId: bob, name: 'Bob' },
    ],
    pairs: [{ followerId: reader, refId: bob }],
  });
  const id = await publish(app, {
    ...{ actorId: ann, scope: 'PUBLIC' },
    descriptor: { liked: { objectType: 'post', objectId: 'p' } },
  });
  const reshare =
    'mutation ($id: ID!) { addInteraction(input: { actionId: $id, kind: RESHARE }) { interaction { id } } }';
  await ask(app, reshare, { id }, { sub: bob });
  const feed = '{ feed { edges { node { reasons resharedBy { memberId name } action { id } } } } }';
  await expect
    .poll(async () => ask(app, feed, {}, { sub: reader }))
    .toEqual({
      feed: {
        edges: [
          { node: { reasons: ['RESHARE'], resharedBy: [{ memberId: bob, name: 'Bob' }], action: { id } } },
        ],
      },
    });
});
