import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import type { JobRunner } from '../../../src/jobs/job.ts';
import { renames } from '../../../src/features/directory/jobs/renames.ts';
import type { PublishActionInput } from '../../../src/core/shapes.ts';
import type { RenamesRepository } from '../../../src/features/directory/store/renames.ts';
import { reporting, runnerOf } from '../../support/jobs.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

function renamer(
  parts: Parts,
  {
    batchSize = 100,
    leaseMs = 30_000,
    renames: given,
    onFailed,
  }: {
    readonly batchSize?: number;
    readonly leaseMs?: number;
    readonly renames?: Partial<RenamesRepository>;
    readonly onFailed?: (error: unknown) => void;
  } = {},
): JobRunner {
  return runnerOf(
    renames,
    { ...parts.core, renames: { ...parts.core.renames, ...given } },
    {
      ...{ fanOut: { leaseMs, chunkSize: batchSize }, every: 10 },
      ...(onFailed === undefined ? {} : { logger: reporting(onFailed) }),
    },
  );
}

async function untilCarried(parts: Parts): Promise<void> {
  await expect
    .poll(() => parts.repositories.renames.countDue(), { timeout: PATIENCE_MS, interval: 5 })
    .toBe(0);
}

/** Runs workers until every name has reached its copies. */
async function carry(parts: Parts, count = 1): Promise<void> {
  const workers = Array.from({ length: count }, () => renamer(parts));
  for (const worker of workers) worker.start();
  try {
    await untilCarried(parts);
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}

const mary = { id: 'mary', type: 'applicant', label: 'Mary' };
const rating: Partial<PublishActionInput> = {
  refs: [mary, { id: 'site', type: 'site', label: 'Site' }],
  descriptor: {
    applicationRating: {
      raterId: 'bob',
      raterName: 'Bob',
      applicantId: 'mary',
      applicantName: 'Mary',
      positionId: 'job',
      positionName: 'Engineer',
      ratingScore: 4.5,
    },
  },
};

const stored = (parts: Parts, id: string) =>
  parts.database.collections.actions.findOne({ _id: new ObjectId(id) });

/** How many actions hold each copy of a name, as a label of a ref or as the name of an applicant. */
async function copies(parts: Parts, refId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const action of await parts.database.collections.actions.find({}).toArray()) {
    const { applicantId, applicantName } = action.descriptor;
    const names = action.refs.filter((ref) => ref.id === refId).map((ref) => ref.label);
    if (applicantId === refId) names.push(String(applicantName));
    for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

const rename = (parts: Parts, refId: string, label: string) =>
  parts.services.renameRef(parts.service, refId, label);

async function publishMany(parts: Parts, count: number, input: Partial<PublishActionInput>): Promise<void> {
  const actions = Array.from({ length: count }, () => ({
    actorId: 'actor',
    descriptor: { custom: { verb: 'v', objectType: 't', objectId: 'o' } },
    ...input,
  }));
  for (let from = 0; from < count; from += 500)
    await parts.services.publishActions(parts.service, actions.slice(from, from + 500));
}

describe('renaming a ref', () => {
  test('updates the label in the refs and descriptors of its actions, and nothing else', async () => {
    await using parts = await openParts();
    await parts.services.upsertRefs(parts.service, [
      mary,
      { id: 'job', type: 'position', label: 'Engineer' },
    ]);
    const { action } = await parts.publish(rating);
    const inDescriptorAlone = await parts.publish({
      descriptor: {
        newApplicant: { applicantId: 'mary', applicantName: 'Mary', positionId: 'x', positionName: 'X' },
      },
    });
    const otherwise = await parts.publish({
      descriptor: {
        custom: {
          verb: 'v',
          objectType: 't',
          objectId: 'mary',
          data: { applicantId: 'mary', applicantName: 'Mary' },
        },
      },
    });
    expect(await rename(parts, 'mary', 'Mary Fanning-Smith')).toMatchObject({
      refId: 'mary',
      type: 'applicant',
      label: 'Mary Fanning-Smith',
      rename: { version: 2, error: null },
    });
    await carry(parts);
    expect(await stored(parts, action.id)).toMatchObject({
      refs: [
        { ...mary, label: 'Mary Fanning-Smith' },
        { id: 'site', type: 'site', label: 'Site' },
      ],
      descriptor: {
        type: 'ApplicationRating',
        raterName: 'Bob',
        applicantName: 'Mary Fanning-Smith',
        positionName: 'Engineer',
        ratingScore: 4.5,
      },
    });
    expect((await stored(parts, inDescriptorAlone.action.id))?.descriptor).toMatchObject({
      applicantName: 'Mary Fanning-Smith',
      positionName: 'X',
    });
    expect((await stored(parts, otherwise.action.id))?.descriptor).toEqual(otherwise.action.descriptor);
    const [ref] = await parts.repositories.refs.findByIds(['mary']);
    expect(ref?.rename).toEqual({ version: 2, propagated: 2, error: null });
  });

  test('changes nothing of an action but the name and the revision', async () => {
    await using parts = await openParts();
    await parts.services.upsertRefs(parts.service, [mary]);
    const { action } = await parts.publish({ ...rating, mentions: ['ann'], idempotencyKey: 'k' });
    const stored = async (): Promise<{ rev: number | undefined; rest: string }> => {
      const [{ rev, ...rest } = action] = await parts.repositories.actions.findByIds([action.id]);
      return { rev, rest: JSON.stringify(rest) };
    };
    const before = await stored();
    await rename(parts, 'mary', 'Maria');
    await carry(parts);
    const after = await stored();
    expect(after.rest).toBe(before.rest.replaceAll('"Mary"', '"Maria"'));
    // So that nobody shows what they hold of it.
    expect(after.rev).not.toBe(before.rev);
  });

  test.each(['$label', '$$ROOT', 'a.b', '\\"quoted\\"', '名前 🎉', '{"$set": 1}', ' a '])(
    'stores the label %j unchanged',
    async (label) => {
      await using parts = await openParts();
      await parts.services.upsertRefs(parts.service, [{ ...mary, id: '$mary' }]);
      await parts.publish({
        refs: [{ ...mary, id: '$mary' }],
        descriptor: {
          newApplicant: {
            applicantId: '$mary',
            applicantName: 'Mary',
            positionId: '$$x',
            positionName: '$y',
          },
        },
      });
      await rename(parts, '$mary', label);
      await carry(parts);
      expect(await copies(parts, '$mary')).toEqual({ [label]: 2 });
    },
  );

  test('reaches two thousand actions in batches, with several workers', async () => {
    await using parts = await openParts();
    await parts.services.upsertRefs(parts.service, [mary]);
    await publishMany(parts, 2_000, rating);
    await rename(parts, 'mary', 'Maria');
    await carry(parts, 3);
    expect(await copies(parts, 'mary')).toEqual({ Maria: 4_000 });
  });

  test('restores names after A to B to A, with several workers', async () => {
    await using parts = await openParts();
    await parts.services.upsertRefs(parts.service, [mary]);
    await publishMany(parts, 1_000, rating);
    const workers = Array.from({ length: 3 }, () => renamer(parts, { batchSize: 50, leaseMs: 50 }));
    for (const worker of workers) worker.start();
    try {
      for (const label of ['Maria', 'Mary', 'Marie', 'Mary']) await rename(parts, 'mary', label);
      await untilCarried(parts);
    } finally {
      await Promise.all(workers.map((worker) => worker.stop()));
    }
    expect(await copies(parts, 'mary')).toEqual({ Mary: 2_000 });
    const [ref] = await parts.repositories.refs.findByIds(['mary']);
    expect(ref?.rename).toMatchObject({ version: 5, propagated: 5 });
  });

  test('notices a change while it runs, and writes the newer label too', async () => {
    await using parts = await openParts();
    await parts.services.upsertRefs(parts.service, [mary]);
    await publishMany(parts, 30, rating);
    await rename(parts, 'mary', 'Maria');
    const { renames } = parts.repositories;
    let isChanged = false;
    await using worker = renamer(parts, {
      batchSize: 10,
      renames: {
        async carry(...args) {
          const found = await renames.carry(...args);
          if (!isChanged) await rename(parts, 'mary', 'Marie');
          isChanged = true;
          return found;
        },
      },
    });
    worker.start();
    await untilCarried(parts);
    expect(await copies(parts, 'mary')).toEqual({ Marie: 60 });
  });

  test('keeps versions if the label stays the same', async () => {
    await using parts = await openParts();
    await parts.services.upsertRefs(parts.service, [mary]);
    await rename(parts, 'mary', 'Maria');
    await rename(parts, 'mary', 'Maria');
    await parts.services.upsertRefs(parts.service, [{ ...mary, label: 'Maria', type: 'person' }]);
    const [ref] = await parts.repositories.refs.findByIds(['mary']);
    expect(ref).toMatchObject({ type: 'person', rename: { version: 2, propagated: 0 } });
  });
});

describe('a ref is known', () => {
  test('with its type, if an action refers to it', async () => {
    await using parts = await openParts();
    await parts.publish(rating);
    expect(await rename(parts, 'mary', 'Maria')).toMatchObject({ type: 'applicant', label: 'Maria' });
    await carry(parts);
    expect(await copies(parts, 'mary')).toEqual({ Maria: 2 });
  });

  test('if a descriptor names it, or it is followed', async () => {
    await using parts = await openParts();
    await parts.publish(rating);
    await parts.services.followMany(parts.service, [{ followerId: 'ann', refId: 'hill' }]);
    expect(await rename(parts, 'job', 'Chief')).toMatchObject({ type: null, label: 'Chief' });
    expect(await rename(parts, 'hill', 'The hill')).toMatchObject({
      type: null,
      label: 'The hill',
      followerCount: 1,
    });
  });

  test.each([
    ['nobody knows', 'nobody'],
    ['is the beginning of one that is known', 'mar'],
    ['begins with one that is known', 'mary2'],
    ['is a member', 'ann'],
    ['is an actor', 'actor'],
  ])('but an id that %s is NOT_FOUND', async (_what, id) => {
    await using parts = await openParts();
    await parts.services.upsertMembers(parts.service, [{ memberId: 'ann', name: 'Ann' }]);
    await parts.publish(rating);
    await expect(rename(parts, id, 'New')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await parts.repositories.refs.findByIds([id])).toEqual([]);
  });

  test('if it is a member that actions refer to', async () => {
    await using parts = await openParts();
    await parts.services.upsertMembers(parts.service, [{ memberId: 'ann', name: 'Ann' }]);
    await parts.publish({ refs: [{ id: 'ann', type: 'user', label: 'Ann' }] });
    expect(await rename(parts, 'ann', 'Anna')).toMatchObject({ type: 'user', label: 'Anna' });
  });

  test('only a service renames, and only to a valid name', async () => {
    await using parts = await openParts();
    await parts.services.upsertRefs(parts.service, [mary]);
    const user = parts.session('ann').identity;
    await expect(parts.services.renameRef(user, 'mary', 'New')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    for (const label of ['', 'x'.repeat(513), 'a\0b', '\ud800'])
      await expect(rename(parts, 'mary', label)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    await expect(rename(parts, 'a\tb', 'New')).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  });
});

describe('other ways to rename', () => {
  test('upserting a ref with another label is a rename', async () => {
    await using parts = await openParts();
    await parts.services.upsertRefs(parts.service, [mary]);
    await parts.publish(rating);
    await carry(parts);
    await parts.services.upsertRefs(parts.service, [{ ...mary, label: 'Maria' }]);
    await carry(parts);
    expect(await copies(parts, 'mary')).toEqual({ Maria: 2 });
  });

  test('describing a ref for the first time after its actions updates its label there', async () => {
    await using parts = await openParts();
    await parts.publish(rating);
    await parts.services.upsertRefs(parts.service, [{ ...mary, label: 'Maria' }]);
    await carry(parts);
    expect(await copies(parts, 'mary')).toEqual({ Maria: 2 });
  });

  test('describing a ref as its actions do changes none of them, and a later rename reaches them all', async () => {
    await using parts = await openParts();
    await publishMany(parts, 20, rating);
    const same = await parts.database.collections.actions.find().toArray();
    await publishMany(parts, 20, { ...rating, refs: [{ ...mary, label: 'M.' }] });
    await parts.services.upsertRefs(parts.service, [mary]);
    await carry(parts);
    expect(await copies(parts, 'mary')).toEqual({ Mary: 80 });
    const ids = same.map(({ _id }) => _id);
    expect(await parts.database.collections.actions.find({ _id: { $in: ids } }).toArray()).toEqual(same);
    await rename(parts, 'mary', 'Maria');
    await rename(parts, 'mary', 'Mary');
    await rename(parts, 'mary', 'Marie');
    await carry(parts);
    expect(await copies(parts, 'mary')).toEqual({ Marie: 80 });
  });

  test('upserting a member with another name renames them in descriptors and refs', async () => {
    await using parts = await openParts();
    await parts.services.upsertMembers(parts.service, [{ memberId: 'bob', name: 'Bob', teamId: 't' }]);
    const { action } = await parts.publish({ ...rating, refs: [{ id: 'bob', type: 'user', label: 'Bob' }] });
    await parts.services.upsertMembers(parts.service, [{ memberId: 'bob', name: 'Robert', teamId: 't' }]);
    await carry(parts);
    expect(await stored(parts, action.id)).toMatchObject({
      refs: [{ id: 'bob', label: 'Robert' }],
      descriptor: { raterName: 'Robert', applicantName: 'Mary' },
    });
    const [member] = await parts.repositories.members.findByIds(['bob']);
    expect(member).toEqual({
      userId: 'bob',
      name: 'Robert',
      teamId: 't',
      teamSince: expect.any(Date) as Date,
      departmentId: null,
      departmentSince: null,
      supervisorId: null,
    });
  });

  test('if something is a ref and a member, the label of the ref is its name, whichever changed last', async () => {
    await using parts = await openParts();
    await parts.services.upsertMembers(parts.service, [{ memberId: 'bob', name: 'Bob' }]);
    const { action } = await parts.publish(rating);
    const raterName = async (): Promise<unknown> => (await stored(parts, action.id))?.descriptor['raterName'];
    await parts.services.upsertMembers(parts.service, [{ memberId: 'bob', name: 'Robert' }]);
    await carry(parts);
    expect(await raterName()).toBe('Robert');
    await parts.services.upsertRefs(parts.service, [{ id: 'bob', type: 'user', label: 'Mr Bob' }]);
    await carry(parts);
    expect(await raterName()).toBe('Mr Bob');
    await parts.services.upsertMembers(parts.service, [{ memberId: 'bob', name: 'Bobby' }]);
    await carry(parts, 2);
    expect(await raterName()).toBe('Mr Bob');
  });

  test('filling a directory before there are actions is done without looking at each name', async () => {
    await using parts = await openParts();
    const count = 1_000;
    await parts.services.upsertRefs(
      parts.service,
      Array.from({ length: count }, (_, n) => ({ id: `r${String(n)}`, type: 't', label: 'l' })),
    );
    await parts.services.upsertMembers(
      parts.service,
      Array.from({ length: count }, (_, n) => ({ memberId: `m${String(n)}`, name: 'N' })),
    );
    let claims = 0;
    const { renames } = parts.repositories;
    await using worker = renamer(parts, {
      batchSize: 1_000,
      renames: {
        async claim(...args) {
          const claim = await renames.claim(...args);
          if (claim !== null) claims += 1;
          return claim;
        },
      },
    });
    worker.start();
    await untilCarried(parts);
    expect(claims).toBe(0);
    const [ref] = await parts.repositories.refs.findByIds(['r999']);
    expect(ref?.rename).toEqual({ version: 1, propagated: 1, error: null });
  });
});

describe('failures of a rename', () => {
  async function renamedOnce(parts: Parts): Promise<void> {
    await parts.services.upsertRefs(parts.service, [mary]);
    await publishMany(parts, 30, rating);
    await carry(parts);
    await rename(parts, 'mary', 'Maria');
  }

  test('a worker that dies between two writes is replaced when its lease ends', async () => {
    await using parts = await openParts();
    await renamedOnce(parts);
    const { renames } = parts.repositories;
    const now = Date.now();
    const claim = await renames.claim({ token: 'dead', now: new Date(now), leaseMs: 300 });
    const name = await renames.current('mary');
    if (name === null) throw new Error('There is no name');
    expect(claim).toMatchObject({ source: 'refs', id: 'mary', version: 2 });
    expect(await renames.carry('mary', name, 10)).toBe(10);
    expect(await copies(parts, 'mary')).toEqual({ Maria: 20, Mary: 40 });
    expect(await renames.claim({ token: 'other', now: new Date(now + 299), leaseMs: 1_000 })).toBeNull();
    await carry(parts);
    expect(await copies(parts, 'mary')).toEqual({ Maria: 60 });
  });

  test('a late worker overwrites nothing newer and finishes nothing', async () => {
    await using parts = await openParts();
    await renamedOnce(parts);
    const { renames } = parts.repositories;
    const late = await renames.claim({ token: 'late', now: new Date(), leaseMs: 0 });
    const lateName = await renames.current('mary');
    if (late === null || lateName === null) throw new Error('Nothing was due');
    await rename(parts, 'mary', 'Mary');
    await carry(parts);
    expect(await renames.carry('mary', lateName, 100)).toBe(0);
    expect(await copies(parts, 'mary')).toEqual({ Mary: 60 });
    expect(await renames.renew(late, new Date())).toBe(false);
    expect(await renames.finish(late)).toBe(false);
    await renames.release(late, new Date(), { error: 'late' });
    expect(await renames.countDue()).toBe(0);
  });

  test('a late write in the middle of a newer rename reverts none of its copies', async () => {
    await using parts = await openParts();
    await renamedOnce(parts);
    const { renames } = parts.repositories;
    const late = await renames.current('mary');
    await rename(parts, 'mary', 'Mary');
    const newer = await renames.current('mary');
    if (late === null || newer === null) throw new Error('There is no name');
    await renames.carry('mary', newer, 10);
    expect(await renames.carry('mary', late, 100)).toBe(20);
    expect(await copies(parts, 'mary')).toEqual({ Mary: 20, Maria: 40 });
    await carry(parts);
    expect(await copies(parts, 'mary')).toEqual({ Mary: 60 });
  });

  test('a write that fails is reported, visible and retried', async () => {
    await using parts = await openParts();
    await renamedOnce(parts);
    const { renames, refs } = parts.repositories;
    const failures: unknown[] = [];
    let error: string | null | undefined;
    await using worker = renamer(parts, {
      onFailed: (cause) => failures.push(cause),
      renames: {
        async carry(...args) {
          if (failures.length === 0) throw new Error('The database is on fire');
          error ??= (await refs.findByIds(['mary']))[0]?.rename?.error;
          return renames.carry(...args);
        },
      },
    });
    worker.start();
    await untilCarried(parts);
    expect(failures).toHaveLength(1);
    expect(error).toBe('The database is on fire');
    expect(await copies(parts, 'mary')).toEqual({ Maria: 60 });
    const [ref] = await refs.findByIds(['mary']);
    expect(ref?.rename).toEqual({ version: 2, propagated: 2, error: null });
  });

  test('a worker that is stopped releases the rest at once', async () => {
    await using parts = await openParts();
    await renamedOnce(parts);
    const { renames } = parts.repositories;
    const stopping: Promise<void>[] = [];
    const worker = renamer(parts, {
      batchSize: 10,
      renames: {
        carry(...args) {
          stopping.push(worker.stop());
          return renames.carry(...args);
        },
      },
    });
    worker.start();
    await expect.poll(() => stopping.length).toBe(1);
    await worker.stop();
    expect(await copies(parts, 'mary')).toEqual({ Maria: 20, Mary: 40 });
    expect(await renames.claim({ token: 'next', now: new Date(), leaseMs: 1_000 })).toMatchObject({
      id: 'mary',
      attempts: 1,
    });
  });

  test('a deleted action gets no name back', async () => {
    await using parts = await openParts();
    await parts.services.upsertRefs(parts.service, [mary]);
    const { action } = await parts.publish(rating);
    await parts.services.deleteAction(parts.session('admin', 'admin'), action.id);
    await parts.fanOut();
    const tombstone = await stored(parts, action.id);
    await rename(parts, 'mary', 'Maria');
    await carry(parts);
    expect(await stored(parts, action.id)).toEqual(tombstone);
    expect(tombstone).toMatchObject({ refs: [], descriptor: { type: 'ApplicationRating', tags: [] } });
    expect(tombstone).not.toHaveProperty('names');
  });
});
