import { expect, it } from 'vitest';
import { COLLECTIONS } from '../../../src/app/collections.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { reachOf } from '../../support/sharding.ts';

/** What the hot path sends to all shards, with the reason. */
const SCATTERED: Readonly<Record<string, string>> = {
  'find follows': 'the followers of a ref lie with each follower; merged in order',
  'find actions': 'what is due next, and past actions of a ref that is followed',
  'aggregate actions': 'how many fan-outs are open, for idle()',
  'find feeds': 'which feed is due next',
  'aggregate feeds': 'how many feeds are due, for idle()',
  'aggregate follows':
    'to whom a ref is assigned, members of a department, and feeds that may lack a raised action',
  'update newsfeedItems': 'raises an action in all feeds at once',
  'find interactions': 'what a member has passed on, when they are followed',
};

/** The commands that do not go to the shards of what they are about, each once. */
async function reaches(parts: Parts, work: () => Promise<unknown>): Promise<string[]> {
  const commands = await commandsOf(parts.database, work);
  const found = commands.flatMap((command) => {
    const { kind } = reachOf(command);
    return kind === 'targeted' ? [] : [`${kind}: ${command.name} ${command.collection}`];
  });
  return [...new Set(found)].sort();
}

it.each(['items', 'capped', 'time-buckets', 'size-buckets', 'top-cache'])(
  'with the model %s the hot path queries only the shards of its reader or action, with known exceptions',
  async (model) => {
    await using parts = await openParts({ monitorCommands: true, model, isSharded: true });
    const { services, service } = parts;
    const post = (n: number) => ({
      actorId: 'actor',
      scope: 'PUBLIC' as const,
      idempotencyKey: `post-${String(n)}`,
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: String(n) } },
    });
    await services.followMany(service, [{ followerId: 'ann', refId: 'actor' }]);
    const follow = await reaches(parts, () => services.follow(parts.session('bob'), 'actor', 0));
    let actionId = '';
    const publish = await reaches(parts, async () => {
      actionId = (await services.publishAction(service, post(1))).action.id;
      await services.publishAction(service, post(1));
    });
    const fanOut = await reaches(parts, () => parts.fanOut());
    const ofReaders = [
      await reaches(parts, () => services.readFeed(parts.session('ann'), { first: 25 })),
      await reaches(parts, () => services.countUnread(parts.session('ann'))),
      await reaches(parts, () => services.hideFeedItem(parts.session('bob'), actionId)),
      await reaches(parts, () => services.bookmark(parts.session('ann'), actionId)),
    ];
    const interaction = await reaches(parts, () =>
      services.addInteraction(parts.session('ann'), { actionId, kind: 'COMMENT' }),
    );
    const bump = await reaches(parts, () => parts.fanOut());
    expect([publish, interaction, ...ofReaders].flat()).toEqual([]);
    const known = Object.keys(SCATTERED).map((name) => `scattered: ${name}`);
    expect([follow, fanOut, bump].flat().filter((line) => !known.includes(line))).toEqual([]);
    // It is a pass that the reasons are about.
    expect(fanOut).toContain('scattered: find actions');
    expect(await parts.feedOf('ann')).toEqual([actionId]);
  },
);

it('a page of a sharded database is read without $lookup', async () => {
  await using parts = await openParts({ monitorCommands: true, isSharded: true });
  await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'actor' }]);
  await parts.publish({});
  await parts.fanOut();
  await parts.feedOf('ann');
  const commands = await commandsOf(parts.database, () => parts.feedOf('ann'));
  expect(JSON.stringify(commands)).not.toMatch(/\$lookup|\$unionWith/);
  expect(commands.map(({ name, collection }) => `${name} ${collection}`)).toContain('find newsfeedItems');
});

it('every collection has a shard key, or a reason for having none', async () => {
  await using parts = await openParts();
  await parts.publish({ idempotencyKey: 'one' });
  const names = (await parts.database.db.collections()).map(({ collectionName }) => collectionName);
  const planned = COLLECTIONS.map(({ name }) => name);
  expect(names.filter((name) => !planned.includes(name))).toEqual([]);
});
