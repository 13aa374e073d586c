import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask } from '../support/feed-api.ts';
import { APPLIED, day, HIRED, MARY, NOTED, POSITION, RATED, REQUESTED, tellStory } from '../support/story.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const ADMIN = { sub: 'root', roles: ['admin'] } as const;

interface Shown {
  readonly id: string;
  readonly descriptor: { readonly summary: string };
}

async function feedOf(app: TestApp, sub: string): Promise<Shown[]> {
  const { feed } = await ask<{ feed: { edges: { node: { action: Shown } }[] } }>(
    app,
    '{ feed { edges { node { action { id descriptor { summary } } } } } }',
    {},
    { sub },
  );
  return feed.edges.map(({ node }) => node.action);
}

async function sliceFor(app: TestApp, sub: string, refId: string): Promise<string[]> {
  const { slice } = await ask<{ slice: { edges: { node: Shown }[] } }>(
    app,
    'query ($refId: String!) { slice(refId: $refId) { edges { node { id descriptor { summary } } } } }',
    { refId },
    { sub },
  );
  return slice.edges.map(({ node }) => node.descriptor.summary);
}

const summaries = async (app: TestApp, sub: string): Promise<string[]> =>
  (await feedOf(app, sub)).map(({ descriptor }) => descriptor.summary);

test('a comment boosts an old action fully for the department and mentioned members, and slightly for others', async () => {
  await using app = await startTestApp();
  await tellStory(app);
  const requested = (await feedOf(app, 'john')).find(({ descriptor }) => descriptor.summary === REQUESTED);
  const comment = { actionId: requested?.id, kind: 'COMMENT', at: day(7) };
  const record = `mutation ($input: RecordInteractionInput!) {
    addInteraction(input: $input) { action { engagement { comments lastInteraction } } }
  }`;
  expect(await ask(app, record, { input: comment }, { sub: 'sue', roles: ['admin'] })).toEqual({
    addInteraction: { action: { engagement: { comments: 1, lastInteraction: day(7) } } },
  });
  await app.idle();
  expect(await summaries(app, 'john')).toEqual([REQUESTED, HIRED]);
  expect(await summaries(app, 'sue')).toEqual([REQUESTED, HIRED, NOTED, RATED, APPLIED]);
  const rated = (await feedOf(app, 'rita')).find(({ descriptor }) => descriptor.summary === RATED);
  await ask(app, record, { input: { ...comment, actionId: rated?.id } }, { sub: 'paul', roles: ['admin'] });
  await app.idle();
  expect(await summaries(app, 'rita')).toEqual([HIRED, RATED, APPLIED]);
  expect(await summaries(app, 'sue')).toEqual([RATED, REQUESTED, HIRED, NOTED, APPLIED]);
  expect(await sliceFor(app, 'sue', MARY.applicantId)).toEqual([HIRED, NOTED, RATED, REQUESTED, APPLIED]);
});

test('a hidden action is gone from every feed and slice at once, and back when it is shown again', async () => {
  await using app = await startTestApp();
  await tellStory(app);
  const [, , rated] = await feedOf(app, 'sue');
  for (const [mutation, expected, feed] of [
    ['hideAction', [HIRED, NOTED, REQUESTED, APPLIED], [HIRED, NOTED, REQUESTED, APPLIED]],
    // In the feed it stands where it is shown, in slices where it happened.
    ['unhideAction', [HIRED, NOTED, RATED, REQUESTED, APPLIED], [RATED, HIRED, NOTED, REQUESTED, APPLIED]],
  ] as const) {
    await ask(app, `mutation ($id: ID!) { ${mutation}(id: $id) { isHidden } }`, { id: rated?.id }, ADMIN);
    if (mutation === 'unhideAction') await app.idle();
    expect(await summaries(app, 'sue')).toEqual(feed);
    expect(await sliceFor(app, 'sue', POSITION.positionId)).toEqual(expected);
    expect(await sliceFor(app, 'john', 'john')).toEqual(expected.filter((summary) => summary === RATED));
    await app.idle();
  }
});

test('a new name shows at once on refs, and finally in every stored copy', async () => {
  await using app = await startTestApp();
  await tellStory(app);
  const rename =
    'mutation ($refId: String!, $label: String!) { renameRef(refId: $refId, label: $label) { label } }';
  expect(await ask(app, rename, { refId: MARY.applicantId, label: 'Mary Doe' })).toEqual({
    renameRef: { label: 'Mary Doe' },
  });
  const refs = '{ feed(first: 1) { edges { node { action { refs { label } } } } } }';
  expect(await ask(app, refs, {}, { sub: 'sue' })).toEqual({
    feed: {
      edges: [{ node: { action: { refs: [{ label: 'Mary Doe' }, { label: POSITION.positionName }] } } }],
    },
  });
  const renamed = [HIRED, NOTED, RATED, REQUESTED, APPLIED].map((summary) =>
    summary.replace(MARY.applicantName, 'Mary Doe'),
  );
  await expect.poll(() => sliceFor(app, 'sue', MARY.applicantId), { timeout: PATIENCE_MS }).toEqual(renamed);
  expect(await summaries(app, 'sue')).toEqual(renamed);
});
