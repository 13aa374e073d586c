import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.ts';
import { ask, inAnHour, publish, upsert } from '../support/feed-api.ts';
import { BEFORE, SCOPES, sightOf, type Sight } from '../support/privacy-table.ts';
import { CONDUCTED, groupKeyAbout, postedAbout, type Target } from '../support/privacy-ways.ts';
import {
  NO_REF,
  openPrivacyWorld,
  publishTarget,
  VIEWER_NAMES,
  type PrivacyWorld,
  type Viewer,
} from '../support/privacy-world.ts';
import { someOf } from '../support/seed.ts';
import { encodeFeedGroupId } from '../../src/graphql/global-id.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => app[Symbol.asyncDispose]());

interface Listing {
  readonly edges: readonly { readonly node: { readonly id: string } | { readonly action: { id: string } } }[];
  readonly total: { readonly count: number };
}
interface Groups {
  readonly edges: readonly { readonly node: { readonly items: readonly { action: { id: string } }[] } }[];
  readonly total: { readonly count: number };
}
interface Answer {
  readonly viewer?: Readonly<Record<string, Listing>>;
  readonly feed?: Listing;
  readonly groups?: Groups;
}

const listOfViewer = (name: string) => `{ viewer { ${name} { edges { node { id } } total { count } } } }`;
const listOfFeed = (filter: string) => `{
  feed(filter: { ${filter}: true }) { edges { node { action { id } } } total { count } }
  groups: feedGroups(filter: { ${filter}: true }) { edges { node { items { action { id } } } } total { count } }
}`;

/** Lists that a reader makes of actions one by one: what puts one in, what shows them, and whose sight is enough for it. */
const LISTS = {
  bookmarks: {
    put: 'mutation ($id: ID!) { bookmark(actionId: $id) { id } }',
    document: listOfViewer('bookmarks'),
    of: ['feed', 'page'],
  },
  hiddenItems: {
    put: 'mutation ($id: ID!) { hideFeedItem(actionId: $id) { actionId } }',
    document: listOfViewer('hiddenItems'),
    of: ['feed', 'page'],
  },
  archived: {
    put: 'mutation ($id: ID!) { archiveFeedItem(actionId: $id) { itemId } }',
    document: listOfFeed('archived'),
    of: ['feed'],
  },
  snoozed: {
    put: `mutation ($id: ID!) { snoozeFeedItem(actionId: $id, until: "${inAnHour()}") { itemId } }`,
    document: listOfFeed('snoozed'),
    of: ['feed'],
  },
} as const satisfies Readonly<
  Record<string, { readonly put: string; readonly document: string; readonly of: readonly Sight[] }>
>;
type List = keyof typeof LISTS;
const LIST_NAMES = Object.keys(LISTS) as readonly List[];

/** Ids of the actions in a list, which is counted and grouped besides and must be the same each time. */
async function listed(world: PrivacyWorld, viewer: Viewer, list: List): Promise<string[]> {
  const answer = await ask<Answer>(app, LISTS[list].document, {}, world.as(viewer));
  const listing = answer.feed ?? answer.viewer?.[list];
  if (listing === undefined) throw new Error(`There is no list ${list}`);
  const ids = listing.edges.map(({ node }) => ('action' in node ? node.action.id : node.id));
  expect([viewer, list, listing.total.count]).toEqual([viewer, list, ids.length]);
  const { groups } = answer;
  if (groups !== undefined) {
    const inGroups = groups.edges.flatMap(({ node }) => node.items.map(({ action }) => action.id));
    expect([viewer, list, inGroups, groups.total.count]).toEqual([viewer, list, ids, ids.length]);
  }
  return ids;
}

async function expectListed(
  world: PrivacyWorld,
  targets: ReadonlyMap<List, Target>,
  isShown: (viewer: Viewer, list: List) => boolean,
): Promise<void> {
  for (const viewer of VIEWER_NAMES)
    for (const [list, { actionId }] of targets)
      expect([viewer, list, await listed(world, viewer, list)]).toEqual([
        viewer,
        list,
        isShown(viewer, list) ? [actionId] : [],
      ]);
}

const isEnoughFor = (list: List, sight: Sight): boolean =>
  (LISTS[list].of as readonly Sight[]).includes(sight);

test.each(someOf(SCOPES, 2))(
  'a %s action is in bookmarks, archive, hidden and snoozed items only of readers who may see it now',
  async (scope) => {
    const world = await openPrivacyWorld(app, scope);
    const targets = new Map<List, Target>();
    for (const list of LIST_NAMES) targets.set(list, await publishTarget(world, list));
    await app.idle();
    const sightWhenPut = (viewer: Viewer): Sight =>
      sightOf(BEFORE, viewer.startsWith('former follower') ? 'follower of the site' : viewer, scope);
    for (const viewer of VIEWER_NAMES)
      for (const [list, { actionId }] of targets) {
        const { errors } = await app.query(LISTS[list].put, { id: actionId }, world.as(viewer));
        expect([viewer, list, errors.map(({ extensions }) => extensions.code)]).toEqual([
          viewer,
          list,
          sightWhenPut(viewer) === 'no' ? ['NOT_FOUND'] : [],
        ]);
      }
    await expectListed(world, targets, (viewer, list) => isEnoughFor(list, sightWhenPut(viewer)));
    await world.part();
    const sight = (viewer: Viewer): Sight => sightOf(BEFORE, viewer, scope);
    await expectListed(world, targets, (viewer, list) => isEnoughFor(list, sight(viewer)));
    for (const { actionId } of targets.values()) {
      const back = 'mutation ($of: OwnInteraction!) { removeInteraction(input: { own: $of }) { isReplay } }';
      await ask(app, back, { of: { actionId, kind: 'RESHARE' } }, world.as('mentioned'));
    }
    await app.idle();
    // What nobody passes on any more is theirs only as it is anybody's.
    const afterwards = (viewer: Viewer): Sight =>
      viewer === 'follower of who passes it on' && scope === 'PUBLIC' ? 'page' : sight(viewer);
    await expectListed(world, targets, (viewer, list) => isEnoughFor(list, afterwards(viewer)));
    for (const { actionId } of targets.values())
      await ask(
        app,
        'mutation ($id: ID!) { hideAction(id: $id) { id } }',
        { id: actionId },
        world.as('admin'),
      );
    await expectListed(
      world,
      targets,
      (viewer, list) => viewer === 'admin' && isEnoughFor(list, afterwards(viewer)),
    );
  },
);

describe('followers', () => {
  interface Followers {
    readonly ref: {
      readonly followerCount: number;
      readonly followers: { readonly edges: readonly { readonly node: { readonly memberId: string } }[] };
    } | null;
  }
  const WHO =
    'query ($refId: String!) { ref(refId: $refId) { followerCount followers { edges { node { memberId } } } } }';
  const HOW_MANY = `query ($refId: String!) {
    ref(refId: $refId) { followerCount } member(memberId: $refId) { followerCount }
  }`;

  test('of a person or thing are named for admins and services only, and counted for everybody', async () => {
    const world = await openPrivacyWorld(app, 'TEAM');
    await upsert(app, {
      refs: [
        { id: world.id('site'), type: 'thing', label: 'The site' },
        { id: world.id('actor'), type: 'person', label: 'The actor' },
      ],
    });
    const followers: Readonly<Record<string, readonly Viewer[]>> = {
      [world.id('site')]: ['follower of the site'],
      [world.id('actor')]: ['former follower, history kept', 'former follower, history taken back'],
      [NO_REF]: [],
    };
    const expectFollowers = async (refId: string, who: readonly Viewer[]): Promise<void> => {
      const ids = who.map((viewer) => world.id(viewer)).sort();
      for (const viewer of VIEWER_NAMES) {
        const { data, errors } = await app.query<Followers>(WHO, { refId }, world.as(viewer));
        const seen = data?.ref?.followers.edges.map(({ node }) => node.memberId).sort();
        const codes = errors.map(({ extensions }) => extensions.code);
        const isAllowed = viewer === 'admin' || viewer === 'service';
        expect([viewer, refId, seen, codes]).toEqual([
          viewer,
          refId,
          ...(isAllowed ? [ids, []] : [undefined, ['FORBIDDEN']]),
        ]);
        expect([viewer, JSON.stringify({ data, errors }).includes(ids[0] ?? '?')]).toEqual([
          viewer,
          isAllowed && ids.length > 0,
        ]);
        expect([viewer, refId, await ask(app, HOW_MANY, { refId }, world.as(viewer))]).toEqual([
          viewer,
          refId,
          {
            ref: { followerCount: ids.length },
            member: refId === world.id('actor') ? { followerCount: ids.length } : null,
          },
        ]);
      }
    };
    for (const [refId, who] of Object.entries(followers)) await expectFollowers(refId, who);
    await world.part();
    await expectFollowers(world.id('actor'), []);
  });
});

test('a group contains only what its viewer may see, and neither counts nor names the rest', async () => {
  interface Group {
    readonly count: { readonly count: number };
    readonly actorCount: { readonly count: number };
    readonly actors: readonly { readonly memberId: string }[];
    readonly items: readonly { readonly action: { readonly id: string } }[];
    readonly summary: string;
  }
  const FIELDS = `count { count } actorCount { count } actors(first: 20) { memberId } summary
    items(first: 20) { action { id } }`;
  const document = `query ($id: ID!, $refId: String!) {
    node(id: $id) { ... on FeedGroup { ${FIELDS} } }
    feedGroups(filter: { refId: $refId }) { edges { node { ${FIELDS} } } total { count } }
  }`;
  const world = await openPrivacyWorld(app, 'PUBLIC');
  const [thing, site, secret] = [world.id('thing'), world.id('site'), world.id('secret')];
  await upsert(app, { members: [{ memberId: secret, name: 'Nemo Unheard' }] });
  const common = {
    ...{ conducted: CONDUCTED, descriptor: postedAbout(thing) },
    ...{ refs: [{ id: site, type: 'thing', label: 'The site' }], mentions: [world.id('mentioned')] },
  };
  const open = await publish(app, { ...common, actorId: world.id('actor'), scope: 'PUBLIC' });
  const closed = await publish(app, {
    ...{ ...common, actorId: secret, scope: 'RESTRICTED' },
    recipients: [world.id('recipient')],
  });
  await app.idle();
  const expected: readonly (readonly [Viewer, readonly string[]])[] = [
    ['mentioned', [closed, open]],
    ['follower of the site', [open]],
    ['recipient', [closed]],
    ['stranger', []],
    ['admin', []],
  ];
  for (const [viewer, ids] of expected) {
    const variables = { id: encodeFeedGroupId(world.id(viewer), groupKeyAbout(thing)), refId: site };
    const { node, feedGroups } = await ask<{
      node: Group | null;
      feedGroups: { edges: { node: Group }[]; total: { count: number } };
    }>(app, document, variables, world.as(viewer));
    expect([viewer, feedGroups.edges.map((edge) => edge.node), feedGroups.total.count]).toEqual([
      viewer,
      node === null ? [] : [node],
      node === null ? 0 : 1,
    ]);
    expect([viewer, node?.items.map(({ action }) => action.id).sort() ?? []]).toEqual([
      viewer,
      [...ids].sort(),
    ]);
    if (node === null) continue;
    const hasSecret = ids.includes(closed);
    expect([viewer, node.count.count, node.actorCount.count]).toEqual([viewer, ids.length, ids.length]);
    expect([viewer, node.actors.some(({ memberId }) => memberId === secret)]).toEqual([viewer, hasSecret]);
    expect([viewer, node.summary.includes('Nemo Unheard')]).toEqual([viewer, hasSecret]);
  }
});
