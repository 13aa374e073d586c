import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import type { PublishActionInput } from '../../../src/core/shapes.ts';
import { commandsOf } from '../../support/commands.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const named = (label: string, id = 'mary') => ({ refs: [{ id, type: 'applicant', label }] });

async function publish(parts: Parts, input: Partial<PublishActionInput>): Promise<string> {
  return (await parts.publish({ scope: 'PUBLIC', ...input })).action.id;
}

/** As a stranger is shown it. */
async function shown(parts: Parts, id = 'mary'): Promise<string | null> {
  const ref = await parts.services.readRef(parts.session('stranger'), id);
  return ref === null ? null : `${String(ref.type)} ${String(ref.label)}`;
}

test('a ref that nobody has described is shown as the first action names it', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  const ann = session('ann');
  expect(await shown(parts)).toBeNull();
  expect((await services.follow(ann, 'mary', 0)).label).toBeNull();
  await publish(parts, named('Mary'));
  await publish(parts, { ...named('Mary the Second'), conducted: new Date(Date.now() - 86_400_000) });
  expect(await shown(parts)).toBe('applicant Mary');
  expect(await services.getRef(session('bob'), 'mary')).toMatchObject({ label: 'Mary', followerCount: 1 });
  const followed = await services.follow(session('bob'), 'mary', 0);
  expect(followed.followerCount).toBe(2);
  expect(await followed.named?.()).toMatchObject({ type: 'applicant', label: 'Mary' });
  const following = await services.following(session('bob'), {});
  expect(following.edges.map(({ node }) => node.label)).toEqual(['Mary']);
});

test('what the host application says of a ref wins, and is not changed by actions', async () => {
  await using parts = await openParts();
  await publish(parts, named('Mary'));
  await parts.services.renameRef(parts.service, 'mary', 'Mary F.');
  expect(await shown(parts)).toBe('applicant Mary F.');
  await parts.services.upsertRefs(parts.service, [{ id: 'mary', type: 'person', label: 'Mary Fanning' }]);
  await publish(parts, named('Another'));
  expect(await shown(parts)).toBe('person Mary Fanning');
});

test('an action that not everybody may find, or that is gone, describes nothing', async () => {
  await using parts = await openParts();
  const { services, service } = parts;
  await services.upsertMembers(service, [
    { memberId: 'actor', name: 'Actor', teamId: 't', departmentId: 'd' },
  ]);
  await publish(parts, { ...named('To ann alone'), scope: 'RESTRICTED', recipients: ['ann'] });
  for (const scope of ['TEAM', 'DEPARTMENT']) await publish(parts, { ...named('Among us'), scope });
  expect(await shown(parts)).toBeNull();
  expect(await services.readRef(parts.session('ann'), 'mary')).toBeNull();
  const bad = await publish(parts, { ...named('Offensive'), scope: 'FOLLOWERS' });
  await publish(parts, named('Mary'));
  expect(await shown(parts)).toBe('applicant Offensive');
  await services.hideAction(parts.session('admin', 'admin'), bad, null);
  expect(await shown(parts)).toBe('applicant Mary');
});

test('an action does not make a member a ref, and loses the name of an erased one', async () => {
  await using parts = await openParts();
  const { services, service } = parts;
  await publish(parts, named('Johnny', 'john'));
  await publish(parts, { ...named('Case of John Doe'), mentions: ['john'] });
  expect(await shown(parts, 'john')).toBe('applicant Johnny');
  await services.upsertMembers(service, [{ memberId: 'john', name: 'John Doe' }]);
  expect(await shown(parts, 'john')).toBeNull();
  expect((await services.readMember(parts.session('ann'), 'john'))?.name).toBe('John Doe');
  await services.eraseMember(parts.admin, 'john');
  expect(await shown(parts, 'john')).toBeNull();
  expect(await shown(parts)).toBe('applicant Case of Former member');
});

test('finds a ref as the first action names it, until it is described, and not if only a few may see the action', async () => {
  await using parts = await openParts();
  const { services, service } = parts;
  const found = async (search: string, type?: string): Promise<unknown[]> => {
    const page = await services.searchRefs(parts.session('service', 'service'), { search, type });
    return page.edges.map(({ node }) => node.label);
  };
  await services.upsertMembers(service, [{ memberId: 'bob', name: 'Bob' }]);
  await publish(parts, { ...named('Secret Mary', 'secret'), scope: 'RESTRICTED', recipients: ['ann'] });
  await publish(parts, named('Bob the ref', 'bob'));
  await publish(parts, named('Mary Fanning'));
  await publish(parts, named('Mary the Second'));
  expect(await found('secret')).toEqual([]);
  expect(await found('bob')).toEqual([]);
  expect(await found('mary')).toEqual(['Mary Fanning']);
  expect(await found('fan', 'applicant')).toEqual(['Mary Fanning']);
  expect(await found('second')).toEqual([]);
  await services.upsertRefs(service, [{ id: 'mary', type: 'person', label: 'M. Fanning' }]);
  await publish(parts, named('Mary the Third'));
  expect(await found('mary')).toEqual([]);
  expect(await found('fanning', 'person')).toEqual(['M. Fanning']);
  const only = await publish(parts, named('Lone', 'lone'));
  expect(await found('lone')).toEqual(['Lone']);
  await services.hideAction(parts.session('admin', 'admin'), only, null);
  expect(await found('lone')).toEqual([]);
});

test('a process that has looked for names shows what one that has not does, whatever happened to the actions meanwhile', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const admin = parts.session('admin', 'admin');
  const host = parts.session('host', 'service');
  const first = await publish(parts, named('Mary', 'other'));
  await publish(parts, { ...named('Restricted Mary'), scope: 'RESTRICTED', recipients: ['ann'] });
  const second = await publish(parts, named('Mary the Second'));
  await publish(parts, { ...named('Mary the Third'), expiresAt: new Date(Date.now() + 3_600_000) });
  await publish(parts, named('Mary the Fourth'));
  const names = async (): Promise<unknown> => {
    const ids = ['mary', 'other', 'nobody'];
    const known = await Promise.all(ids.map((id) => shown(parts, id)));
    await using fresh = await parts.reopen();
    expect(known).toEqual(await Promise.all(ids.map((id) => shown(fresh, id))));
    return known[0];
  };
  const steps: [() => Promise<unknown>, string][] = [
    [() => Promise.resolve(), 'Mary the Second'],
    [() => services.hideAction(admin, second, null), 'Mary the Third'],
    [() => services.unhideAction(admin, second), 'Mary the Second'],
    [() => services.updateAction(host, first, { refs: named('Mary the First').refs }), 'Mary the First'],
    [() => services.updateAction(host, first, named('Mary', 'other')), 'Mary the Second'],
    [() => services.deleteAction(admin, second), 'Mary the Third'],
    [
      () =>
        parts.database.collections.actions.updateOne(
          { 'refs.label': 'Mary the Third' },
          { $set: { expiresAt: new Date(Date.now() - 1) } },
        ),
      'Mary the Fourth',
    ],
    [() => publish(parts, named('Nobody any more', 'nobody')), 'Mary the Fourth'],
  ];
  for (const [step, name] of steps) {
    await step();
    expect(await names()).toBe(`applicant ${name}`);
  }
});

test('what actions call very many is asked about at once where few have them or a process has looked before, however much the id of one is used', async () => {
  await using parts = await openParts({ monitorCommands: true });
  const { actions } = parts.database.collections;
  const ids = Array.from({ length: 60 }, (_, n) => `thing-${String(n).padStart(2, '0')}`);
  const named = await parts.services.publishActions(
    parts.service,
    ids.slice(0, 30).map((id) => ({
      ...{ scope: 'PUBLIC', refs: [{ id, type: 'thing', label: `The ${id}` }] },
      descriptor: { custom: { verb: 'posted', objectType: 'post', objectId: id } },
    })),
  );
  await parts.services.followMany(
    parts.service,
    ids.map((refId) => ({ followerId: 'ann', refId })),
  );
  const read = async (by: Parts) => {
    let labels: unknown[] = [];
    const commands = await commandsOf(by.database, async () => {
      const page = await by.services.following(by.session('ann'), { first: 60 });
      labels = page.edges.map(({ node }) => node.label);
    });
    expect(labels).toEqual(ids.map((id, n) => (n < 30 ? `The ${id}` : null)));
    return commands.filter(({ collection }) => collection === 'actions').map(({ name }) => name);
  };
  expect(await read(parts)).toEqual(['find']);
  // Nothing that followers may see names it.
  const document = await actions.findOne({ _id: new ObjectId(named[0]?.action?.id) });
  if (document === null) throw new Error('The action is not there');
  const crowd = Array.from({ length: 1_100 }, () => ({
    ...{ ...document, _id: new ObjectId(), refIds: ['thing-59'], refs: [], isHidden: true },
  }));
  await actions.insertMany(crowd);
  const one = ['find', ...Array.from({ length: 8 }, () => 'aggregate')];
  await using fresh = await parts.reopen({ monitorCommands: true });
  for (const by of [parts, fresh]) {
    expect(await read(by)).toEqual(one);
    // It has read what there is of the crowded one, and all again; from then on it looks for that one apart.
    if (by === fresh) await read(by);
    expect(await read(by)).toEqual(['find', 'aggregate']);
  }
});
