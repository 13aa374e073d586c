import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import type { Identity } from '../../../src/domain/viewer.ts';
import type { ReaderSession } from '../../../src/feed/session/reader-session.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { revised } from '../../../src/storage/stages/revision.ts';

const SITE = { id: 'site', type: 'site', label: 'Site' };
const admin = (parts: Parts): ReaderSession => parts.session('admin', 'admin');

async function published(parts: Parts, input: object = {}): Promise<string> {
  return (await parts.publish({ scope: 'PUBLIC', refs: [SITE], ...input })).action.id;
}

async function pinned(parts: Parts, session = parts.session('ann'), refId = 'site'): Promise<string[]> {
  return (await parts.services.readPinned(session, refId)).map(({ id }) => id);
}

/** What is stored, visible or not. */
async function stored(parts: Parts): Promise<string[]> {
  return parts.repositories.pins.of('site');
}

test('shows the latest pin first, and each once', async () => {
  await using parts = await openParts();
  await parts.services.upsertRefs(parts.service, [SITE]);
  const ids = [await published(parts), await published(parts)] as const;
  expect(await pinned(parts)).toEqual([]);
  for (const id of [...ids, ids[0]])
    expect(await parts.services.pinAction(admin(parts), 'site', id)).toMatchObject({ label: 'Site' });
  expect(await pinned(parts)).toEqual([ids[1], ids[0]]);
  for (let n = 0; n < 2; n += 1) await parts.services.unpinAction(admin(parts), 'site', ids[1]);
  expect(await pinned(parts)).toEqual([ids[0]]);
});

test('stays when the ref is described again, renamed and followed', async () => {
  await using parts = await openParts();
  const id = await published(parts);
  await parts.services.pinAction(parts.session('service', 'service'), 'site', id);
  await parts.services.upsertRefs(parts.service, [{ ...SITE, label: 'Other' }]);
  await parts.services.renameRef(parts.service, 'site', 'New');
  const ref = await parts.services.follow(parts.session('ann'), 'site', 0);
  expect(ref).toMatchObject({ label: 'New', followerCount: 1 });
  expect(await pinned(parts)).toEqual([id]);
});

test("puts an action that involves a member on the member's page", async () => {
  await using parts = await openParts();
  const id = await published(parts, { actorId: 'bob', refs: [] });
  await parts.services.pinAction(admin(parts), 'bob', id);
  expect(await pinned(parts, parts.session('ann'), 'bob')).toEqual([id]);
});

test('rejects a fourth, whichever of the three are visible', async () => {
  await using parts = await openParts();
  const ids: string[] = [];
  for (let n = 0; n < 4; n += 1) ids.push(await published(parts));
  for (const id of ids.slice(0, 3)) await parts.services.pinAction(admin(parts), 'site', id);
  await parts.services.hideAction(admin(parts), ids[0] ?? '', null);
  const fourth = () => parts.services.pinAction(admin(parts), 'site', ids[3] ?? '');
  await expect(fourth()).rejects.toMatchObject({ code: 'CONFLICT' });
  expect(await pinned(parts)).toEqual([ids[2], ids[1]]);
  expect(await pinned(parts, admin(parts))).toEqual([ids[2], ids[1], ids[0]]);
  await parts.services.unpinAction(admin(parts), 'site', ids[0] ?? '');
  await fourth();
  expect(await pinned(parts)).toEqual([ids[3], ids[2], ids[1]]);
});

test('stores at most three when many are pinned concurrently', async () => {
  await using parts = await openParts();
  const ids: string[] = [];
  for (let n = 0; n < 8; n += 1) ids.push(await published(parts));
  const outcomes = await Promise.allSettled(
    ids.map((id) => parts.services.pinAction(admin(parts), 'site', id)),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  expect(await stored(parts)).toHaveLength(3);
});

test('shows each reader what they may see at that moment, and nothing else', async () => {
  await using parts = await openParts();
  const everybody = await published(parts);
  const restricted = await published(parts, { scope: 'RESTRICTED', recipients: ['bob'] });
  const followers = await published(parts, { scope: 'FOLLOWERS' });
  for (const id of [everybody, restricted, followers])
    await parts.services.pinAction(admin(parts), 'site', id);
  expect(await pinned(parts)).toEqual([everybody]);
  expect(await pinned(parts, parts.session('bob'))).toEqual([restricted, everybody]);
  await parts.services.follow(parts.session('ann'), 'site', 0);
  expect(await pinned(parts)).toEqual([followers, everybody]);
  await parts.services.hideAction(admin(parts), everybody, null);
  expect(await pinned(parts)).toEqual([followers]);
  await parts.services.unhideAction(admin(parts), everybody);
  expect(await pinned(parts)).toEqual([followers, everybody]);
});

test('a mute of the reader does not affect a page', async () => {
  await using parts = await openParts();
  const id = await published(parts);
  await parts.services.pinAction(admin(parts), 'site', id);
  await parts.services.addMute(parts.session('ann'), { memberId: 'actor' });
  expect(await pinned(parts)).toEqual([id]);
});

test('a deleted action is unpinned at once for everybody, and its pin is removed', async () => {
  await using parts = await openParts();
  const id = await published(parts);
  const other = await published(parts);
  for (const one of [id, other]) await parts.services.pinAction(admin(parts), 'site', one);
  await parts.services.deleteAction(admin(parts), id);
  expect(await pinned(parts, admin(parts))).toEqual([other]);
  await parts.fanOut();
  expect(await stored(parts)).toEqual([other]);
});

test('a deleted action, or one without the ref, makes room', async () => {
  await using parts = await openParts();
  const ids: string[] = [];
  for (let n = 0; n < 4; n += 1) ids.push(await published(parts));
  for (const id of ids.slice(0, 3)) await parts.services.pinAction(admin(parts), 'site', id);
  const { actions } = parts.database.collections;
  await actions.updateOne({ _id: new ObjectId(ids[0]) }, revised({ $set: { refIds: ['elsewhere'] } }));
  expect(await pinned(parts)).toEqual([ids[2], ids[1]]);
  await parts.services.deleteAction(admin(parts), ids[1] ?? '');
  await parts.services.pinAction(admin(parts), 'site', ids[3] ?? '');
  expect(await stored(parts)).toEqual([ids[3], ids[2]]);
});

test('rejects callers without permission, missing actions and actions without the ref', async () => {
  await using parts = await openParts();
  const id = await published(parts);
  const gone = await published(parts);
  await parts.services.deleteAction(admin(parts), gone);
  const pin = (session: ReaderSession, refId: string, actionId: string) =>
    parts.services.pinAction(session, refId, actionId);
  const cases: readonly (readonly [() => Promise<unknown>, string])[] = [
    [() => pin(parts.session('actor'), 'site', id), 'FORBIDDEN'],
    [() => parts.services.unpinAction(parts.session('actor'), 'site', id), 'FORBIDDEN'],
    [() => pin(admin(parts), 'site', 'f'.repeat(24)), 'NOT_FOUND'],
    [() => pin(admin(parts), 'site', gone), 'NOT_FOUND'],
    [() => pin(admin(parts), 'elsewhere', id), 'BAD_USER_INPUT'],
    [() => pin(admin(parts), '', id), 'BAD_USER_INPUT'],
  ];
  for (const [refused, code] of cases) await expect(refused()).rejects.toMatchObject({ code });
  expect(await parts.repositories.pins.of('site')).toEqual([]);
});

test('pins on the page of an erased member are removed, and their actions stay pinned elsewhere', async () => {
  await using parts = await openParts();
  const identity: Identity = parts.admin;
  const id = await published(parts, { actorId: 'bob' });
  await parts.services.pinAction(admin(parts), 'bob', id);
  await parts.services.pinAction(admin(parts), 'site', id);
  expect(await parts.services.eraseMember(identity, 'bob')).toBe(true);
  expect(await pinned(parts, parts.session('ann'), 'bob')).toEqual([]);
  expect(await parts.repositories.pins.of('bob')).toEqual([]);
  expect(await pinned(parts)).toEqual([id]);
});
