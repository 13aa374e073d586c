import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import type { Action } from '../../../src/domain/action.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { revised } from '../../../src/storage/stages/revision.ts';

const DAY = 86_400_000;

const namesOf = (commands: Awaited<ReturnType<typeof commandsOf>>): string[] =>
  commands.map((command) => `${command.name} ${command.collection}`);

async function office(parts: Parts): Promise<void> {
  await parts.services.upsertMembers(parts.service, [
    { memberId: 'actor', name: 'Actor', departmentId: 'sales' },
    { memberId: 'boss', name: 'Boss', departmentId: 'board' },
    { memberId: 'commenter', name: 'Commenter', departmentId: 'hr' },
    { memberId: 'peer', name: 'Peer', departmentId: 'hr' },
    { memberId: 'seller', name: 'Seller', departmentId: 'sales' },
    { memberId: 'minion', name: 'Minion', departmentId: 'it', supervisorId: 'boss' },
    { memberId: 'mentioned', name: 'Mentioned', departmentId: 'it' },
    { memberId: 'other', name: 'Other', departmentId: 'it' },
  ]);
  await parts.services.followMany(
    parts.service,
    ['peer', 'seller', 'minion', 'other', 'unknown'].map((followerId) => ({ followerId, refId: 'actor' })),
  );
}

async function relevancyIn(parts: Parts, userId: string, actionId: string): Promise<Date | undefined> {
  const [entry] = await parts.feedStore.find(userId, [actionId]);
  return entry?.relevancy;
}

test('boosts an item to the time of the interaction for the people it concerns, and far less for the others', async () => {
  await using parts = await openParts();
  await office(parts);
  const conducted = new Date(Date.now() - 100 * DAY);
  const { action } = await parts.publish({ conducted, mentions: ['mentioned'] });
  await parts.fanOut();
  const at = new Date(conducted.getTime() + 50 * DAY);
  await parts.services.addInteraction(parts.session('commenter', 'admin'), {
    actionId: action.id,
    kind: 'COMMENT',
    at,
  });
  await parts.fanOut();
  for (const userId of ['mentioned', 'peer', 'seller'])
    expect(await relevancyIn(parts, userId, action.id)).toEqual(at);
  const barely = new Date(conducted.getTime() + 5 * DAY);
  for (const userId of ['minion', 'other', 'unknown'])
    expect(await relevancyIn(parts, userId, action.id)).toEqual(barely);

  const later = new Date(conducted.getTime() + 60 * DAY);
  await parts.services
    .addInteraction(parts.session('boss'), {
      actionId: action.id,
      kind: 'LIKE',
    })
    .catch((error: unknown) => {
      // The boss is no follower: for them the action is not there.
      expect(error).toMatchObject({ code: 'NOT_FOUND' });
    });
  await parts.services.addInteraction(parts.session('boss', 'admin'), {
    actionId: action.id,
    kind: 'LIKE',
    at: later,
  });
  await parts.fanOut();
  expect(await relevancyIn(parts, 'minion', action.id)).toEqual(later);
  expect(await relevancyIn(parts, 'other', action.id)).toEqual(barely);
});

test('never lowers a relevancy and never boosts it beyond now', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ mentions: ['ann'], conducted: new Date(Date.now() - DAY) });
  await parts.fanOut();
  const record = (at: Date) =>
    parts.services.addInteraction(parts.session('svc', 'admin'), {
      actionId: action.id,
      kind: 'COMMENT',
      at,
    });
  const before = Date.now();
  await record(new Date(Date.now() + 60_000));
  await parts.fanOut();
  const boosted = await relevancyIn(parts, 'ann', action.id);
  expect(boosted?.getTime()).toBeGreaterThanOrEqual(before);
  expect(boosted?.getTime()).toBeLessThanOrEqual(Date.now());
  await record(new Date(Date.now() - 2 * DAY));
  await parts.fanOut();
  expect(await relevancyIn(parts, 'ann', action.id)).toEqual(boosted);
  await expect(record(new Date(Date.now() + 3_600_000))).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
});

test('counts each interaction once, whatever is repeated', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ scope: 'PUBLIC' });
  const record = (userId: string, kind: string, idempotencyKey?: string) =>
    parts.services.addInteraction(parts.session(userId), { actionId: action.id, kind, idempotencyKey });
  await Promise.all([
    record('ann', 'COMMENT', 'k'),
    record('ann', 'COMMENT', 'k'),
    record('bob', 'COMMENT', 'k'),
  ]);
  await record('ann', 'LIKE');
  await record('ann', 'LIKE');
  await record('bob', 'LIKE');
  await record('ann', 'COMMENT');
  const last = await record('ann', 'RESHARE');
  expect(last.action.engagement).toMatchObject({ comments: 3, likes: 2, reshares: 1 });
  await parts.fanOut();
  const [derived] = await parts.repositories.actions.findByIds([action.id]);
  expect(derived?.engagement).toMatchObject({ comments: 3, likes: 2, reshares: 1 });
});

test('recomputes the counters: a wrong one is correct after the next pass', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ scope: 'PUBLIC' });
  await parts.services.addInteraction(parts.session('ann'), { actionId: action.id, kind: 'LIKE' });
  await parts.database.collections.actions.updateOne({}, revised({ $set: { 'engagement.likes': 77 } }));
  await parts.fanOut();
  const [derived] = await parts.repositories.actions.findByIds([action.id]);
  expect(derived?.engagement.likes).toBe(1);
});

test('boosts for a late follower too, whose feed is filled with past actions', async () => {
  await using parts = await openParts();
  await office(parts);
  const conducted = new Date(Date.now() - 100 * DAY);
  const { action } = await parts.publish({ conducted });
  const at = new Date(conducted.getTime() + 50 * DAY);
  await parts.services.addInteraction(parts.session('commenter', 'admin'), {
    actionId: action.id,
    kind: 'COMMENT',
    at,
  });
  await parts.fanOut();
  await parts.services.upsertMembers(parts.service, [{ memberId: 'late', name: 'Late', departmentId: 'hr' }]);
  await parts.services.follow(parts.session('late'), 'actor', 10);
  expect(await relevancyIn(parts, 'late', action.id)).toEqual(at);
});

test('costs a handful of passes when a thousand comments arrive within a moment', async () => {
  await using parts = await openParts({ monitorCommands: true });
  await office(parts);
  const { action } = await parts.publish({});
  await parts.fanOut();
  await using worker = parts.worker();
  worker.start();
  const commands = await commandsOf(parts.database, async () => {
    for (let n = 0; n < 1_000; n += 50)
      await Promise.all(
        Array.from({ length: 50 }, () =>
          parts.services.addInteraction(parts.session('svc', 'admin'), {
            actionId: action.id,
            kind: 'COMMENT',
          }),
        ),
      );
    await parts.idle();
  });
  const passes = commands.filter(
    ({ name, collection }) => name === 'find' && collection === 'follows',
  ).length;
  const inserts = commands.flatMap(({ name, collection, command }) =>
    name === 'insert' && collection === 'interactions' ? [command['documents'] as readonly unknown[]] : [],
  );
  expect(inserts.flat()).toHaveLength(1_000);
  expect(passes).toBeLessThan(40);
  const [derived] = await parts.repositories.actions.findByIds([action.id]);
  expect(derived?.engagement.comments).toBe(1_000);
});

test('what is recorded, read and ended at the same time takes one command of each kind, each with its own outcome', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { interactions, fanOuts } = parts.repositories;
  const [one, two] = [(await parts.publish({})).action, (await parts.publish({})).action];
  const record = ({ id: actionId }: Action, key: string) =>
    interactions.record({
      ...{
        id: new ObjectId().toHexString(),
        actionId,
        key,
        idempotencyKey: key,
        kind: 'COMMENT',
        actorId: 'ann',
      },
      ...{ at: new Date(), text: key, reaction: null, parentId: null, data: null, departmentIds: [] },
      ...{ mentions: [], ownerId: 'ann', parentActorId: null, isHeld: false, passesOn: false, notFor: [] },
    });
  const recording = await commandsOf(parts.database, async () => {
    const outcomes = await Promise.all([record(one, 'a'), record(one, 'a'), record(two, 'a')]);
    expect(outcomes.map((outcome) => outcome?.change)).toEqual(['new', 'none', 'new']);
    expect(outcomes[1]?.interaction.id).toBe(outcomes[0]?.interaction.id);
  });
  expect(namesOf(recording)).toEqual(['insert interactions', 'find interactions']);
  const reading = await commandsOf(parts.database, async () => {
    const found = await Promise.all([one, two].map(({ id }) => interactions.summary(id)));
    expect(found.map((summary) => summary?.engagement.comments)).toEqual([1, 1]);
  });
  expect(namesOf(reading)).toEqual(['aggregate interactions']);
  const lanes = [{ lane: 'LIVE' as const, most: 2 }];
  const { claims } = await fanOuts.claim('worker', new Date(), 60_000, { lanes });
  await fanOuts.requestPass(two.id, new Date());
  const ending = await commandsOf(parts.database, async () => {
    const ended = await Promise.all(claims.map((claim) => fanOuts.finish([{ claim, delivered: 0 }])));
    const own = claims.map(({ action: { id } }, n) => [id, ended[n]?.has(id)]);
    expect(new Map(own as [string, boolean][])).toEqual(
      new Map([
        [one.id, true],
        [two.id, false],
      ]),
    );
  });
  expect(namesOf(ending)).toEqual(['update actions', 'find actions']);
});

test('does not distinguish an invisible action from a missing one', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({ scope: 'RESTRICTED', recipients: ['bob'] });
  for (const actionId of [action.id, 'f'.repeat(24)])
    await expect(
      parts.services.addInteraction(parts.session('ann'), { actionId, kind: 'LIKE' }),
    ).rejects.toMatchObject({ code: 'NOT_FOUND', message: 'There is no such action' });
  await expect(
    parts.services.addInteraction(parts.session('bob'), {
      actionId: action.id,
      kind: 'LIKE',
      actorId: 'ann',
    }),
  ).rejects.toMatchObject({ code: 'FORBIDDEN' });
  expect(await parts.database.collections.interactions.countDocuments()).toBe(0);
});
