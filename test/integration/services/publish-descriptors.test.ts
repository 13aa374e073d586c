import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import type { DescriptorType } from '../../../src/descriptors/define.ts';
import { namedIdsOf } from '../../../src/descriptors/names.ts';
import { descriptorTypes } from '../../../src/descriptors/registry.ts';
import { nameStamp } from '../../../src/storage/stamps/directory-stamps.ts';
import { sampleDescriptor } from '../../support/descriptor-samples.ts';
import { openParts } from '../../support/parts.ts';

const TYPES = descriptorTypes().map((descriptor): [string, DescriptorType] => [descriptor.type, descriptor]);

test.each(TYPES)('records %s as given, under its type', async (type, descriptor) => {
  await using parts = await openParts();
  const values = { ...sampleDescriptor(descriptor), tags: ['a', 'b'] };
  const { action } = await parts.publish({
    scope: 'PUBLIC',
    refs: [{ id: 'site', type: 'site', label: 'Site' }],
    descriptor: { [descriptor.inputName]: values },
  });
  await parts.publish({ scope: 'PUBLIC', refs: [{ id: 'site', type: 'site', label: 'Site' }] });
  const [stored] = await parts.repositories.actions.findByIds([action.id]);
  expect(stored?.descriptor).toEqual({ type, ...values });
  const slice = await parts.services.readSlice(parts.session('ann'), 'site', { filter: { types: [type] } });
  expect(slice.edges.map(({ node }) => node.id)).toContain(action.id);
  const document = await parts.database.collections.actions.findOne({ _id: new ObjectId(action.id) });
  expect(document?.names).toEqual(['site', ...namedIdsOf({ type, ...values })].map((id) => nameStamp(id, 0)));
});

test.each(TYPES)('accepts %s without optional fields', async (type, descriptor) => {
  await using parts = await openParts();
  const required = Object.entries(sampleDescriptor(descriptor)).filter(
    ([name]) => descriptor.fields[name]?.isOptional === false,
  );
  const { action } = await parts.publish({
    descriptor: { [descriptor.inputName]: Object.fromEntries(required) },
  });
  expect(action.descriptor).toMatchObject({ type, tags: [], ...Object.fromEntries(required) });
});

test.each(TYPES)('rejects %s with an unknown field, and names it', async (_type, descriptor) => {
  await using parts = await openParts();
  const given = { [descriptor.inputName]: { ...sampleDescriptor(descriptor), nonsense: 1 } };
  await expect(parts.publish({ descriptor: given })).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
    message: expect.stringContaining('nonsense') as string,
  });
});

test('an action without names is not listed under any name', async () => {
  await using parts = await openParts();
  const { action } = await parts.publish({});
  const document = await parts.database.collections.actions.findOne({ _id: new ObjectId(action.id) });
  expect(document).not.toHaveProperty('names');
});

test('only a service publishes descriptors with isActor for others', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  const input = {
    scope: 'PUBLIC',
    descriptor: {
      applicationRating: {
        ...{ raterId: 'alice', raterName: 'Alice', applicantId: 'a', applicantName: 'A' },
        ...{ positionId: 'p', positionName: 'P', ratingScore: 1 },
      },
    },
  } as const;
  const forbidden = {
    code: 'FORBIDDEN',
    message:
      'input.descriptor.applicationRating.raterId: Must be the actor unless a service publishes, got "alice"',
  };
  for (const roles of [[], ['admin']] as const)
    await expect(services.publishAction(session('eve', ...roles).identity, input)).rejects.toMatchObject(
      forbidden,
    );
  const [alone] = await services.publishActions(session('eve').identity, [input]);
  expect(alone).toMatchObject({ action: null, error: { code: 'FORBIDDEN' } });
  expect(await parts.database.collections.actions.countDocuments()).toBe(0);
  const said = await services.publishAction(session('alice').identity, input);
  expect(said.action.actorId).toBe('alice');
  const sent = await services.publishAction(parts.service, { ...input, actorId: 'importer' });
  expect(sent.action.descriptor['raterId']).toBe('alice');
});
