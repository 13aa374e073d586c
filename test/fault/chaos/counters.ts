import { engagementOf, reasonsFor, type Model } from '../../support/model.ts';
import { referenceOf } from '../kills/reference.ts';
import { call } from './call.ts';
import { ADMIN, type World } from './world.ts';

interface Counted {
  readonly id: string;
  readonly engagement: {
    readonly comments: number;
    readonly likes: number;
    readonly reshares: number;
    readonly reactions: readonly { readonly reaction: string; readonly count: number }[];
  };
  readonly fanOut: { readonly state: string; readonly delivered: number; readonly error: string | null };
}

interface Page {
  readonly actions: {
    readonly edges: readonly { readonly node: Counted }[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  };
}

/** How follower counts and engagement differ from what is recorded of follows and interactions. Empty: in nothing. */
export async function counterDifferences(world: World): Promise<string[]> {
  const reference = await referenceOf(world.app.app.database.collections, world.readers);
  return [
    ...(await followerDifferences(world, reference)),
    ...(await everyAction(world)).flatMap(({ id, engagement, fanOut }) => {
      const action = reference.actions.find((one) => one.id === id);
      if (action === undefined) return [`action ${id} is listed and not recorded`];
      const expected = engagementOf(action);
      return [
        ...(fanOut.state === 'DONE'
          ? []
          : [`the fan-out of ${id} is ${fanOut.state}: ${String(fanOut.error)}`]),
        ...(['comments', 'likes', 'reshares'] as const).flatMap((kind) =>
          engagement[kind] === expected[kind]
            ? []
            : [`${kind} of ${id} are ${String(engagement[kind])}, not ${String(expected[kind])}`],
        ),
        ...(inWords(engagement) === inWords(expected)
          ? []
          : [`reactions of ${id} are ${inWords(engagement)}, not ${inWords(expected)}`]),
      ];
    }),
  ];
}

function inWords({ reactions }: Pick<Counted['engagement'], 'reactions'>): string {
  return reactions.length === 0
    ? 'none'
    : reactions.map(({ reaction, count }) => `${reaction} ${String(count)}`).join(', ');
}

/** How the number of readers whom these actions were delivered to differs from those they are for. */
export async function deliveredDifferences(world: World, ids: readonly string[]): Promise<string[]> {
  const reference = await referenceOf(world.app.app.database.collections, world.readers);
  const everybody = new Set([
    ...reference.members.map(({ userId }) => userId),
    ...reference.follows.map(({ followerId }) => followerId),
    ...reference.actions.flatMap(({ mentions, recipients }) => [...mentions, ...recipients]),
  ]);
  return (await everyAction(world)).flatMap(({ id, fanOut }) => {
    const action = reference.actions.find((one) => one.id === id);
    if (action === undefined || !ids.includes(id)) return [];
    const readers = [...everybody].filter((userId) => reasonsFor(reference, userId, action).length > 0);
    return fanOut.delivered === readers.length
      ? []
      : [
          `${id} was delivered to ${String(fanOut.delivered)}, and is for ${String(readers.length)}: ${readers.join(' ')}`,
        ];
  });
}

async function followerDifferences(world: World, reference: Model): Promise<string[]> {
  const counts = new Map<string, number>();
  for (const sub of world.readers) {
    const outcome = await call<{
      viewer: { following: { edges: { node: { refId: string; followerCount: number } }[] } };
    }>(world, '{ viewer { following(first: 100) { edges { node { refId followerCount } } } } }', {}, { sub });
    if (!('data' in outcome))
      return [`what ${sub} follows cannot be read: ${outcome.code} ${outcome.message}`];
    for (const { node } of outcome.data.viewer.following.edges) counts.set(node.refId, node.followerCount);
  }
  return [...counts].flatMap(([refId, count]) => {
    const expected = reference.follows.filter((follow) => follow.refId === refId && follow.isActive).length;
    return count === expected ? [] : [`${refId} has ${String(count)} followers, not ${String(expected)}`];
  });
}

/** What an admin is shown of every action that is not deleted. */
async function everyAction(world: World): Promise<Counted[]> {
  const found: Counted[] = [];
  let after: string | null = null;
  for (;;) {
    const outcome: Awaited<ReturnType<typeof call<Page>>> = await call<Page>(
      world,
      `query($after: String) { actions(first: 100, after: $after, includeHidden: true) {
        edges { node { id engagement { comments likes reshares reactions { reaction count } } fanOut { state delivered error } } }
        pageInfo { hasNextPage endCursor } } }`,
      { after },
      ADMIN,
    );
    if (!('data' in outcome)) throw new Error(`Actions cannot be listed: ${outcome.code} ${outcome.message}`);
    const { edges, pageInfo }: Page['actions'] = outcome.data.actions;
    found.push(
      ...edges.map(({ node }) => ({ ...node, id: Buffer.from(node.id, 'base64').toString().slice(-24) })),
    );
    if (!pageInfo.hasNextPage) return found;
    after = pageInfo.endCursor;
  }
}
