import { expect, test } from 'vitest';
import { ask, publish } from '../support/feed-api.ts';
import { startTestApp } from '../support/app.ts';

const ann = { sub: 'ann', roles: ['user'] } as const;
const bob = { sub: 'bob', roles: ['user'] } as const;
const admin = { sub: 'admin', roles: ['user', 'admin'] } as const;

const ADD = `mutation ($input: RecordInteractionInput!) {
  addInteraction(input: $input) {
    isReplay
    interaction { id kind text reaction parentId data state actor { memberId } action { id } }
    action { id engagement { comments likes reactions { reaction count } } }
  }
}`;
interface Added {
  readonly addInteraction: {
    readonly interaction: { readonly id: string; readonly parentId: string | null };
  };
}
const SLICE = `query ($first: Int) {
  slice(refId: "interactions-e2e") {
    edges { node { interactions(first: $first) { edges { node { text kind } } pageInfo { hasNextPage } } } }
  }
}`;

test("comments, reactions and their removal through the API, with the viewer's own and the lists", async () => {
  await using app = await startTestApp();
  const actionId = await publish(app, {
    ...{ scope: 'PUBLIC', actorId: 'bob' },
    refs: [{ id: 'interactions-e2e', type: 'thing', label: 'Thing' }],
  });
  const add = async (input: object, as: { readonly sub: string } = ann) =>
    (await ask<Added>(app, ADD, { input: { actionId, ...input } }, as)).addInteraction;
  const comment = await add({ kind: 'COMMENT', text: 'Hello', data: { a: 1 } });
  expect(comment).toMatchObject({
    ...{ isReplay: false, action: { engagement: { comments: 1 } } },
    interaction: { text: 'Hello', data: { a: 1 }, state: 'VISIBLE', action: { id: actionId } },
  });
  const parentId = comment.interaction.id;
  const reply = await add({ kind: 'COMMENT', text: 'Hi', parentId }, bob);
  expect(reply.interaction.parentId).toBe(parentId);
  await add({ kind: 'REACTION', reaction: '🎉' });
  const read = `query ($id: ID!, $parentId: ID!) {
    action(id: $id) {
      viewer { hasLiked hasReshared hasCommented reactions isBookmarked canDelete canEdit }
      all: interactions(kinds: [COMMENT]) { edges { node { text } } }
      top: interactions(kinds: [COMMENT], parentId: null) { edges { node { text } } }
      replies: interactions(parentId: $parentId) { edges { node { text } } }
    }
    node(id: $parentId) { ... on Interaction { text } }
  }`;
  const texts = (...of: string[]) => ({ edges: of.map((text) => ({ node: { text } })) });
  // Interpreted first, then compiled.
  for (let run = 0; run < 30; run += 1)
    expect(await ask(app, read, { id: actionId, parentId }, ann)).toEqual({
      action: {
        viewer: {
          ...{ hasLiked: false, hasReshared: false, hasCommented: true, reactions: ['🎉'] },
          ...{ isBookmarked: false, canDelete: false, canEdit: false },
        },
        ...{ all: texts('Hi', 'Hello'), top: texts('Hello'), replies: texts('Hi') },
      },
      node: { text: 'Hello' },
    });
  const remove = `mutation ($input: RemoveInteractionInput!) {
    removeInteraction(input: $input) { isReplay interaction { state } action { engagement { comments } } }
  }`;
  expect(await ask(app, remove, { input: { own: { actionId, kind: 'COMMENT' } } }, ann)).toEqual({
    removeInteraction: {
      ...{ isReplay: false, interaction: { state: 'REMOVED' }, action: { engagement: { comments: 1 } } },
    },
  });
  const hide = 'mutation ($id: ID!) { hideInteraction(id: $id, reason: "x") { state } }';
  await ask(app, hide, { id: reply.interaction.id }, admin);
  const { slice } = await ask<{ slice: unknown }>(app, SLICE, { first: 20 }, ann);
  expect(slice).toEqual({
    edges: [
      {
        node: {
          interactions: {
            ...{ edges: [{ node: { text: null, kind: 'REACTION' } }], pageInfo: { hasNextPage: false } },
          },
        },
      },
    ],
  });
  for (let run = 0; run < 20; run += 1) {
    const refused = await app.query(SLICE, { first: 21 }, ann);
    expect(JSON.stringify(refused.errors)).toContain('Must be from 1 to 20 inside a list, got 21');
  }
});
