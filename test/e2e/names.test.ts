import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { descriptorTypes } from '../../src/descriptors/registry.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { commandsOf, withoutClockReads } from '../support/commands.ts';
import { sampleDescriptor } from '../support/descriptor-samples.ts';
import { ask, publish, upsert } from '../support/feed-api.ts';
import { watchFeed } from '../support/live-clients.ts';
import { sentenceOf } from '../support/sentence.ts';
import { uniqueName } from '../support/unique-name.ts';

const service = { sub: 'service', roles: ['service'] } as const;
const RENAME =
  'mutation ($refId: String!, $label: String!) { renameRef(refId: $refId, label: $label) { label } }';
const PROGRESS = `mutation ($refId: String!, $label: String!) {
  renameRef(refId: $refId, label: $label) { refId label rename { version propagated isDone error } }
}`;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { POLL_INTERVAL: '100ms' } });
});
afterAll(async () => app[Symbol.asyncDispose]());

/** Every field of every descriptor type. */
const FRAGMENTS = descriptorTypes()
  .map(({ type, fieldList }) => {
    const selected = fieldList.map(({ name, field }) =>
      field.kind === 'media' ? `${name} { url alt kind }` : name,
    );
    return `... on ${type}Descriptor { ${selected.join(' ')} }`;
  })
  .join('\n');
const SHOWN = `id actor { name } refs { refId label } descriptor { __typename summary ${FRAGMENTS} }`;

interface Shown {
  readonly id: string;
  readonly actor: { readonly name: string };
  readonly refs: readonly { readonly refId: string; readonly label: string }[];
  readonly descriptor: Readonly<Record<string, unknown>> & { readonly summary: string };
}

async function shown(id: string): Promise<Shown> {
  const data = await ask<{ action: Shown }>(
    app,
    `query ($id: ID!) { action(id: $id) { ${SHOWN} } }`,
    { id },
    service,
  );
  return data.action;
}

describe.each(descriptorTypes().map((descriptor) => [descriptor.type, descriptor] as const))(
  '%s',
  (type, descriptor) => {
    test('returns its names as published, and new ones after a rename', async () => {
      const tag = uniqueName(' ');
      const values = sampleDescriptor(descriptor);
      for (const [name, field] of Object.entries(descriptor.fields))
        if (field.kind === 'id') values[name] = `${name}${tag}`;
      const id = await publish(app, { scope: 'PUBLIC', descriptor: { [descriptor.inputName]: values } });
      const before = await shown(id);
      expect(before.descriptor).toEqual({
        __typename: `${type}Descriptor`,
        summary: sentenceOf(descriptor, values, 'en', before.actor.name),
        ...values,
      });
      const renamed: Record<string, unknown> = { ...values };
      for (const [name, field] of Object.entries(descriptor.fields)) {
        if (field.kind !== 'nameOf') continue;
        renamed[name] = `New ${name}`;
        await ask(app, RENAME, { refId: values[field.idField], label: renamed[name] }, service);
      }
      const after = await shown(id);
      expect(after.descriptor).toEqual({
        __typename: `${type}Descriptor`,
        summary: sentenceOf(descriptor, renamed, 'en', after.actor.name),
        ...renamed,
      });
    });
  },
);

/** Somebody rates Mary; the ids are of one test. */
async function rated(tag: string): Promise<string> {
  return publish(app, {
    actorId: `bob${tag}`,
    scope: 'PUBLIC',
    refs: [{ id: `mary${tag}`, type: 'applicant', label: 'Mary' }],
    descriptor: {
      applicationRating: {
        ...{ raterId: `bob${tag}`, raterName: 'Bob', applicantId: `mary${tag}`, applicantName: 'Mary' },
        ...{ positionId: `job${tag}`, positionName: 'Engineer', ratingScore: 4.5 },
      },
    },
  });
}

describe('names', () => {
  test('are those of the ref, otherwise of the member, otherwise as recorded', async () => {
    const tag = uniqueName(' ');
    const id = await rated(tag);
    expect((await shown(id)).descriptor.summary).toBe('Bob rated Mary 4.5 for Engineer');
    await upsert(app, { members: [{ memberId: `bob${tag}`, name: 'Robert' }] });
    await ask(app, RENAME, { refId: `mary${tag}`, label: 'Mary Fanning' }, service);
    const both = await shown(id);
    expect(both.refs).toEqual([{ refId: `mary${tag}`, label: 'Mary Fanning' }]);
    expect(both.descriptor).toMatchObject({
      summary: 'Robert rated Mary Fanning 4.5 for Engineer',
      raterName: 'Robert',
      applicantName: 'Mary Fanning',
      positionName: 'Engineer',
    });
    await upsert(app, { refs: [{ id: `bob${tag}`, type: 'user', label: 'Mr Bob' }] });
    expect((await shown(id)).descriptor).toMatchObject({ raterName: 'Mr Bob' });
  });

  test('are new on every page and in every live event once the rename is acknowledged', async () => {
    const tag = uniqueName(' ');
    const reader = `reader${tag}`;
    await upsert(app, { pairs: [{ followerId: reader, refId: `mary${tag}` }] });
    await using watcher = await watchFeed('WebSocket', app, reader);
    const first = await rated(tag);
    expect(await watcher.next()).toMatchObject({ item: { action: { id: first } } });
    for (const name of ['Mary Fanning', 'Maria', 'Mary']) {
      await ask(app, RENAME, { refId: `mary${tag}`, label: name }, service);
      const summary = `Bob rated ${name} 4.5 for Engineer`;
      const page = await ask<{
        feed: { edges: readonly { node: { action: Shown } }[] };
        slice: { edges: readonly { node: Shown }[] };
      }>(
        app,
        `query ($refId: String!) {
          feed { edges { node { action { ${SHOWN} } } } }
          slice(refId: $refId) { edges { node { ${SHOWN} } } }
        }`,
        { refId: `mary${tag}` },
        { sub: reader },
      );
      const pages = [
        ...page.feed.edges.map(({ node }) => node.action),
        ...page.slice.edges.map(({ node }) => node),
      ];
      expect(pages.length).toBeGreaterThan(0);
      for (const action of pages) {
        expect(action.descriptor.summary).toBe(summary);
        expect(action.refs[0]?.label).toBe(name);
      }
      const next = await rated(tag);
      expect(await watcher.next()).toMatchObject({
        item: { action: { id: next, descriptor: { summary }, refs: [{ label: name }] } },
      });
    }
  });

  test('of a followed member are those of the member', async () => {
    const tag = uniqueName(' ');
    await upsert(app, { members: [{ memberId: `bob${tag}`, name: 'Bob' }] });
    const follow = 'mutation ($refId: String!) { follow(refId: $refId) { refId label } }';
    expect(await ask(app, follow, { refId: `bob${tag}` }, { sub: 'ann' })).toEqual({
      follow: { refId: `bob${tag}`, label: 'Bob' },
    });
  });
});

describe('the progress of a rename', () => {
  test('is shown to services and admins until it is done, and to nobody else', async () => {
    const tag = uniqueName(' ');
    const id = await rated(tag);
    await upsert(app, { refs: [{ id: `mary${tag}`, type: 'applicant', label: 'Mary' }] });
    const variables = { refId: `mary${tag}`, label: 'Maria' };
    const { renameRef } = await ask<{ renameRef: object }>(app, PROGRESS, variables, service);
    expect(renameRef).toMatchObject({ refId: `mary${tag}`, label: 'Maria', rename: { version: 2 } });
    const query =
      'query ($id: ID!) { action(id: $id) { refs { rename { version propagated isDone error } } } }';
    const progress = (as: { sub: string; roles?: readonly ('admin' | 'service')[] }) =>
      ask<{ action: { refs: readonly { rename: object | null }[] } }>(app, query, { id }, as);
    await expect
      .poll(async () => (await progress(service)).action.refs[0]?.rename)
      .toEqual({ version: 2, propagated: 2, isDone: true, error: null });
    const admin = await progress({ sub: 'admin', roles: ['admin'] });
    expect(admin.action.refs[0]?.rename).not.toBeNull();
    expect((await progress({ sub: 'ann' })).action.refs[0]?.rename).toBeNull();
    const { actions } = app.app.database.collections;
    expect(await actions.countDocuments({ 'refs.id': `mary${tag}`, 'refs.label': 'Maria' })).toBe(1);
  });

  test('does not start for members without permission, nor for unknown ids', async () => {
    const tag = uniqueName(' ');
    await upsert(app, { refs: [{ id: `mary${tag}`, type: 'applicant', label: 'Mary' }] });
    const code = async (
      refId: string,
      as: { sub: string; roles?: readonly ('admin' | 'service')[] },
    ): Promise<unknown> => (await app.query(RENAME, { refId, label: 'New' }, as)).errors[0]?.extensions.code;
    expect(await code(`mary${tag}`, { sub: 'ann' })).toBe('FORBIDDEN');
    expect(await code(`mary${tag}`, { sub: 'ann', roles: ['admin'] })).toBe('FORBIDDEN');
    expect(await code(`nobody${tag}`, service)).toBe('NOT_FOUND');
    expect(await code('', service)).toBe('BAD_USER_INPUT');
  });
});

test('a page of names costs a look at what has changed and one query for refs, one for members if a ref has no label, and none once they are cached', async () => {
  // A worker would look for work meanwhile.
  await using counted = await startTestApp({ monitorCommands: true, worker: false });
  const people = Array.from({ length: 30 }, (_, n) => ({
    id: `mary${String(n)}`,
    name: `Mary ${String(n)}`,
  }));
  for (const { id, name } of people)
    await publish(counted, {
      scope: 'PUBLIC',
      refs: [{ id: 'site', type: 'site', label: 'Site' }],
      descriptor: {
        newApplicant: { applicantId: id, applicantName: name, positionId: 'job', positionName: 'Engineer' },
      },
    });
  const names = people.map(({ id, name }) => ({ id, type: 'applicant', label: name }));
  const extra = async (fields: string): Promise<string[]> => {
    const read = async (document: string): Promise<string[]> => {
      const commands = await commandsOf(counted.app.database, async () => {
        expect((await counted.query(document, {}, { sub: 'reader' })).errors).toEqual([]);
      });
      return withoutClockReads(commands).map(({ collection }) => collection);
    };
    const slice = (selection: string) =>
      `{ slice(refId: "site", first: 30) { edges { node { ${selection} } } } }`;
    const base = await read(slice('id'));
    const all = await read(slice(`id descriptor { ${fields} }`));
    for (const collection of base) {
      expect(all).toContain(collection);
      all.splice(all.indexOf(collection), 1);
    }
    return all;
  };
  const some = 'summary ... on NewApplicantDescriptor { applicantName positionName }';
  // The actions themselves are read once.
  await counted.query('{ slice(refId: "site", first: 30) { edges { node { id } } } }', {}, { sub: 'reader' });
  expect(await extra(some)).toEqual(['directoryStamps', 'refs', 'members']);
  expect(await extra(some)).toEqual([]);
  await upsert(counted, { refs: [...names, { id: 'job', type: 'position', label: 'Engineer' }] });
  expect(await extra(some)).toEqual(['directoryStamps', 'refs']);
  expect(await extra(some)).toEqual([]);
  expect(await extra('type tags ... on NewApplicantDescriptor { applicantId positionId }')).toEqual([]);
});
