import { expect, test } from 'vitest';
import { eraseMember } from '../../../parts/erasure/src/erase-member.ts';
import { referenceOf } from '../../fault/kills/reference.ts';
import { erasureParts, finishErasures, placesOf } from '../../support/erasure.ts';
import { feedFor } from '../../support/model.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { someModels } from '../../support/some-models.ts';
import { FOLLOW } from '../../../src/feed/loads/own-follows.ts';

const GONE = 'gone-member-7';
const READERS = ['ann', 'bob'];
const LONG_AGO = new Date(Date.UTC(2026, 0, 1));

/** Where each item stands for a reader. */
async function shown(parts: Parts, reader: string): Promise<string[]> {
  const { edges } = await parts.services.readFeed(parts.session(reader), { first: 50 });
  return edges.map(({ node }) => `${node.actionId} at ${node.relevancy.toISOString()}`);
}

/** The same by the records of what happened. */
async function defined(parts: Parts, reader: string): Promise<string[]> {
  const model = await referenceOf(parts.database.collections, READERS);
  const found = model.readers.find(({ userId }) => userId === reader);
  return feedFor(model, found ?? expect.fail()).map(
    ({ action, relevancy }) => `${action.id} at ${new Date(relevancy).toISOString()}`,
  );
}

test.each(someModels(0))(
  'a rebuild after the erasure of a member with assigned followers restores nothing of them, with feeds stored by %s',
  async (model) => {
    await using parts = await openParts({ model });
    const { services } = parts;
    await services.upsertMembers(parts.service, [{ memberId: GONE, name: 'Zebulon' }]);
    await services.followMany(parts.service, [
      { followerId: 'ann', refId: GONE, isAssigned: true },
      { followerId: 'ann', refId: 'site', isAssigned: false },
      { followerId: 'bob', refId: GONE },
    ]);
    const site = { id: 'site', type: 'site', label: 'Site' };
    const about = { id: GONE, type: 'member', label: 'Zebulon' };
    const given = { scope: 'PUBLIC', conducted: LONG_AGO };
    const ids: string[] = [];
    for (const more of [
      { actorId: GONE, refs: [site] },
      { actorId: GONE, refs: [] },
      { actorId: 'cid', refs: [about, site] },
      { actorId: 'cid', refs: [about] },
      { actorId: 'cid', refs: [site] },
    ])
      ids.push((await parts.publish({ ...given, ...more })).action.id);
    await parts.fanOut();
    for (const actionId of ids)
      await services.addInteraction(parts.session('dan'), { actionId, kind: 'COMMENT' });
    await parts.fanOut();
    const before = await shown(parts, 'ann');
    // Who is responsible for them has it at the time of the comment, who only follows them does not.
    expect(before).toHaveLength(5);
    expect(before.filter((item) => item.startsWith(String(ids[0])))).not.toEqual(
      (await shown(parts, 'bob')).filter((item) => item.startsWith(String(ids[0]))),
    );
    for (const reader of READERS) expect(await shown(parts, reader)).toEqual(await defined(parts, reader));

    const dependencies = erasureParts(parts.database, { feedStores: parts.feedStores });
    await eraseMember(dependencies, parts.admin, GONE);
    await finishErasures(parts, dependencies);
    await parts.fanOut();
    for (let round = 0; round < 2; round += 1) {
      for (const reader of READERS) await services.rebuildFeed(parts.admin, reader);
      await parts.fanOut();
      for (const reader of READERS) expect(await shown(parts, reader)).toEqual(await defined(parts, reader));
      expect(await services.getAction(parts.session('ann'), String(ids[4]))).not.toBeNull();
      expect(await placesOf(parts.database, GONE, 'Zebulon')).toEqual([]);
      expect((await parts.session('ann').load(FOLLOW, GONE))?.active ?? false).toBe(false);
      // What was done before stays, and what is done from now on lifts it for nobody as assigned.
      const [first] = ids;
      await services.addInteraction(parts.session('dan'), { actionId: String(first), kind: 'COMMENT' });
      await parts.fanOut();
      for (const reader of READERS) expect(await shown(parts, reader)).toEqual(await defined(parts, reader));
    }
  },
);
