import { expect, test } from 'vitest';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import type { UpdateActionInput } from '../../../src/core/shapes.ts';
import { erase, placesOf } from '../../support/erasure.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const REF = { id: 'site', type: 'site', label: 'Site' };
const posted = (text: string): object => ({ posted: { postId: 'p', text } });

async function publishText(parts: Parts, input: object): Promise<string> {
  const { action } = await parts.publish({ refs: [REF], descriptor: posted('Old'), ...input });
  return action.id;
}

const actor = (parts: Parts): ReaderSession => parts.session('actor');

function update(parts: Parts, id: string, input: UpdateActionInput, by = actor(parts)) {
  return parts.services.updateAction(by, id, input);
}

test('replaces given fields and raises the version; absent fields stay', async () => {
  await using parts = await openParts();
  const id = await publishText(parts, { mentions: ['ann'], expiresAt: new Date(Date.now() + 3_600_000) });
  const before = await parts.services.getAction(actor(parts), id);
  expect(before).toMatchObject({ version: 1, editedAt: null, audienceRev: 0 });
  const edited = await update(parts, id, { descriptor: posted('New') });
  expect(edited).toMatchObject({
    ...{ version: 2, audienceRev: 0, mentions: ['ann'], refs: [REF], expiresAt: before?.expiresAt },
    descriptor: { type: 'Posted', text: 'New' },
    recorded: before?.recorded,
    conducted: before?.conducted,
  });
  expect(edited.editedAt).toBeInstanceOf(Date);
  const other = { id: 'other', type: 'site', label: 'Other' };
  const again = await update(parts, id, { refs: [other], mentions: [], expiresAt: null });
  expect(again).toMatchObject({
    ...{ version: 3, audienceRev: 1, mentions: [], refs: [other], expiresAt: null },
    ...{ refIds: ['other', 'actor'], audience: ['followers'], descriptor: { text: 'New' } },
  });
});

test('an edit applies to the version it names', async () => {
  await using parts = await openParts();
  const id = await publishText(parts, {});
  const edits = await Promise.allSettled(
    ['A', 'B', 'C', 'D'].map((text) =>
      parts.services.updateAction(actor(parts), id, { descriptor: posted(text) }, 1),
    ),
  );
  expect(edits.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const edit of edits)
    if (edit.status === 'rejected') expect(edit.reason).toMatchObject({ code: 'CONFLICT' });
  await expect(parts.services.updateAction(actor(parts), id, { mentions: [] }, 7)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: 'The action has version 2, and ifVersion is 7',
  });
  // Without a version each comes after the other.
  await Promise.all(['E', 'F', 'G'].map((text) => update(parts, id, { descriptor: posted(text) })));
  expect(await parts.services.getAction(actor(parts), id)).toMatchObject({ version: 5 });
});

test.each<[string, object, UpdateActionInput]>([
  ['nothing', {}, {}],
  ['null where something has to be', {}, { mentions: null }],
  ['null as a scope', {}, { scope: null }],
  ['null as refs', {}, { refs: null }],
  ['null as a descriptor', {}, { descriptor: null }],
  ['another type', {}, { descriptor: { custom: { verb: 'v', objectType: 'o', objectId: '1' } } }],
  ['two descriptors', {}, { descriptor: { ...posted('x'), liked: {} } }],
  ['an end in the past', {}, { expiresAt: new Date(0) }],
  ['RESTRICTED without recipients', {}, { scope: 'RESTRICTED' }],
  ['recipients where it is not RESTRICTED', {}, { recipients: ['ann'] }],
  ['no recipients any more', { scope: 'RESTRICTED', recipients: ['ann'] }, { recipients: [] }],
  ['a team that the actor does not have', {}, { scope: 'TEAM' }],
  ['a scope that there is not', {}, { scope: 'NOBODY' }],
  ['too many mentions', {}, { mentions: Array.from({ length: 1_001 }, (_, n) => String(n)) }],
  ['a picture of a ref', {}, { refs: [{ ...REF, imageUrl: 'https://example.org/a.png' }] }],
])('rejects %s', async (_what, published, input) => {
  await using parts = await openParts();
  const id = await publishText(parts, published);
  await expect(update(parts, id, input)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  expect(await parts.services.getAction(actor(parts), id)).toMatchObject({ version: 1 });
});

test('its actor, services and admins edit an action; edits by others than the actor are logged', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const admin = parts.session('root', 'admin');
  const id = await publishText(parts, { scope: 'PUBLIC' });
  const secret = await publishText(parts, { scope: 'RESTRICTED', recipients: ['ann'] });
  const edit = { descriptor: posted('New') };
  await expect(update(parts, id, edit, parts.session('bob'))).rejects.toMatchObject({ code: 'FORBIDDEN' });
  for (const unseen of [secret, 'f'.repeat(24)])
    await expect(update(parts, unseen, edit, parts.session('bob'))).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  await update(parts, id, edit);
  expect((await services.readModerationLog(admin, {})).edges).toEqual([]);
  await update(parts, id, edit, parts.session('hr-system', 'service'));
  await update(parts, secret, edit, admin);
  const { edges } = await services.readModerationLog(admin, {});
  expect(edges.map(({ node }) => [node.kind, node.by, node.actionId])).toEqual([
    ['EDIT', 'root', secret],
    ['EDIT', 'hr-system', id],
  ]);
  await services.hideAction(admin, id, null);
  for (const by of [actor(parts), parts.session('hr-system', 'service')])
    await expect(update(parts, id, edit, by)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await update(parts, id, edit, admin)).toMatchObject({ isHidden: true });
  await services.deleteAction(admin, id);
  await expect(update(parts, id, edit, admin)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('only that member or a service edits a descriptor with isActor', async () => {
  await using parts = await openParts();
  const rating = (raterId: string) => ({
    applicationRating: {
      ...{ raterId, raterName: 'R', applicantId: 'a', applicantName: 'A', ratingScore: 2 },
      ...{ positionId: 'p', positionName: 'P' },
    },
  });
  const { action } = await parts.publish({ descriptor: rating('actor') });
  await expect(
    update(parts, action.id, { descriptor: rating('bob') }, parts.session('root', 'admin')),
  ).rejects.toMatchObject({ code: 'FORBIDDEN' });
  const service = parts.session('service', 'service');
  const edited = await update(parts, action.id, { descriptor: rating('bob') }, service);
  expect(edited.descriptor['raterId']).toBe('bob');
});

test('the group is that of the actor at the time the scope was set', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const join = (teamId: string) =>
    services.upsertMembers(parts.service, [{ memberId: 'actor', name: 'Actor', teamId }]);
  await join('t1');
  const id = await publishText(parts, { scope: 'TEAM' });
  await join('t2');
  expect((await update(parts, id, { mentions: ['ann'] })).audience).toEqual(['team:t1', 'user:ann']);
  expect((await update(parts, id, { scope: 'TEAM' })).audience).toEqual(['team:t2', 'user:ann']);
  expect(await update(parts, id, { scope: 'RESTRICTED', recipients: ['bob'] })).toMatchObject({
    audience: ['user:ann', 'user:bob'],
  });
  expect(await update(parts, id, { scope: 'PUBLIC' })).toMatchObject({
    ...{ recipients: [], audience: ['public', 'user:ann'] },
  });
});

test('a new mention boosts only by later interactions, and members no longer named keep the position', async () => {
  await using parts = await openParts();
  const { services } = parts;
  for (const reader of ['ann', 'bob']) await services.follow(parts.session(reader), 'site', 0);
  const conducted = new Date(Date.now() - 20 * 86_400_000);
  const id = await publishText(parts, { mentions: ['ann'], conducted });
  const comment = (at: Date) =>
    services.addInteraction(parts.session('service', 'service'), {
      ...{ actionId: id, kind: 'COMMENT', actorId: 'actor', at, text: 'So?' },
    });
  const placeOf = async (reader: string): Promise<number | undefined> =>
    (await services.readFeed(parts.session(reader), {})).edges[0]?.node.relevancy.getTime();
  const first = new Date(conducted.getTime() + 10 * 86_400_000);
  await comment(first);
  await parts.fanOut();
  const inPart = conducted.getTime() + 86_400_000;
  expect([await placeOf('ann'), await placeOf('bob')]).toEqual([first.getTime(), inPart]);
  await update(parts, id, { mentions: ['bob'] });
  await parts.fanOut();
  expect([await placeOf('ann'), await placeOf('bob')]).toEqual([first.getTime(), inPart]);
  const second = new Date();
  await comment(second);
  await parts.fanOut();
  expect([await placeOf('ann'), await placeOf('bob')]).toEqual([first.getTime(), second.getTime()]);
});

test('does not restore a member who was erased between its read and its write', async () => {
  await using parts = await openParts();
  const descriptor = { custom: { verb: 'v', objectType: 'person', objectId: 'gone' } };
  const id = await publishText(parts, { descriptor });
  const { actions } = parts.database.collections;
  const { findOne } = actions;
  let isErased = false;
  Object.assign(actions, {
    async findOne(...args: Parameters<typeof findOne>) {
      const document = await findOne.apply(actions, args);
      if (!isErased) {
        isErased = true;
        await erase(parts, 'gone');
      }
      return document;
    },
  });
  await update(parts, id, { mentions: ['ann'] });
  expect(isErased).toBe(true);
  expect(await placesOf(parts.database, 'gone')).toEqual([]);
  expect(await parts.services.getAction(actor(parts), id)).toMatchObject({ version: 2, mentions: ['ann'] });
});
