import { expect, it } from 'vitest';
import { SHARD_PLANS } from '../../../src/storage/shard-keys.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { reachOf } from '../../support/sharding.ts';

/** Sent to all shards, with the reason. */
const SCATTERED: Readonly<Record<string, string>> = {
  'scattered: find follows': 'the followers of a ref lie with each follower; merged in order',
  'scattered: find actions': 'what is due next, and past actions of a ref that is followed',
  'scattered: aggregate actions': 'how many fan-outs are open, for idle() and metrics',
  'scattered: find feeds': 'which feed is due next',
  'scattered: aggregate feeds': 'how many feeds are due, for idle()',
  'scattered: find interactions': 'what a member has passed on, when they are followed',
  'scattered: update interactions': 'settled by _id, which names no action',
};

/** Taken by MongoDB from version 7.1 on; before, candidates would have to be found first and claimed by _id. */
const REFUSED: Readonly<Record<string, string>> = {
  'refused: findAndModify actions': 'the claim of a fan-out',
  'refused: findAndModify feeds': 'the claim of a rebuild',
};

/** The commands on sharded collections that do not go to the shards of what they are about, each once. */
async function reaches(parts: Parts, work: () => Promise<unknown>): Promise<string[]> {
  const commands = await commandsOf(parts.database, work);
  const found = commands.flatMap((command) => {
    const plan = SHARD_PLANS.find(({ collection }) => collection === command.collection);
    if (plan === undefined)
      throw new Error(`${command.collection} has no shard key and no reason for having none`);
    if (plan.key === null) return [];
    const reach = reachOf(command, plan.key);
    return reach === 'targeted' ? [] : [`${reach}: ${command.name} ${command.collection}`];
  });
  return [...new Set(found)].sort();
}

it('the hot path asks the shards of the reader or action it is about, and what does not is known', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { services, service } = parts;
  const post = (n: number) => ({
    actorId: 'actor',
    scope: 'PUBLIC' as const,
    idempotencyKey: `post-${String(n)}`,
    descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: String(n) } },
  });
  await services.followMany(service, [{ followerId: 'ann', refId: 'actor' }]);
  let actionId = '';
  const follow = await reaches(parts, () => services.follow(parts.session('bob'), 'actor', 0));
  const publish = await reaches(parts, async () => {
    actionId = (await services.publishAction(service, post(1))).action.id;
  });
  const fanOut = await reaches(parts, () => parts.fanOut());
  const ofReaders = [
    await reaches(parts, () => services.readFeed(parts.session('ann'), { first: 25 })),
    await reaches(parts, () => services.countUnread(parts.session('ann'))),
    await reaches(parts, () => services.hideFeedItem(parts.session('bob'), actionId)),
    await reaches(parts, () => services.bookmark(parts.session('ann'), actionId)),
  ];
  const interaction = await reaches(parts, () =>
    services.recordInteraction(parts.session('ann'), { actionId, kind: 'COMMENT' }),
  );
  const bump = await reaches(parts, () => parts.fanOut());
  expect([publish, ...ofReaders].flat()).toEqual([]);
  const known = [...Object.keys(SCATTERED), ...Object.keys(REFUSED)];
  expect([follow, fanOut, interaction, bump].flat().filter((line) => !known.includes(line))).toEqual([]);
  // It is a pass that the reasons are about.
  expect(fanOut).toContain('refused: findAndModify actions');
});
