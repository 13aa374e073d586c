import { readFileSync } from 'node:fs';
import { isInputObjectType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { ROLES, type Role } from '../../../src/domain/viewer.ts';
import type { Core } from '../../../src/core/core.ts';
import { encodeActionId } from '../../../src/graphql/global-id.ts';
import { runOperation } from '../../../src/graphql/run-operation.ts';
import { buildSchema } from '../../../src/app/schema.ts';
import { openParts } from '../../support/parts.ts';

const POSTED = 'descriptor: { posted: { postId: "p", postTitle: "T", text: "x" } }';
const RATED = (raterId: string) =>
  `descriptor: { applicationRating: { raterId: "${raterId}", raterName: "R", applicantId: "a", applicantName: "M", positionId: "p", positionName: "C", ratingScore: 9 } }`;

/** What a call comes to: `asked` if a hook was, otherwise `ok`; or the code of the error. */
type Outcome = Readonly<Record<Role, string>>;

const all = (outcome: string): Outcome =>
  Object.fromEntries(ROLES.map((role) => [role, outcome])) as unknown as Outcome;
const only = (roles: readonly Role[], outcome: string, otherwise: string): Outcome => ({
  ...all(otherwise),
  ...(Object.fromEntries(roles.map((role) => [role, outcome])) as Partial<Outcome>),
});

/** Arguments and input fields that change what is checked, a call with each, and what it comes to by the role of the caller. */
const TRUST: Readonly<Record<string, { readonly calls: readonly string[]; readonly outcome: Outcome }>> = {
  'publishActions(isBulk)': {
    calls: [
      `mutation { publishActions(inputs: [{ ${POSTED} }], isBulk: true) { action { id } error { code } } }`,
    ],
    outcome: only(['service'], 'ok', 'asked'),
  },
  'PublishActionInput.actorId': {
    calls: [
      `mutation { publishAction(input: { actorId: "bob", ${POSTED} }) { isReplay } }`,
      `mutation { publishActions(inputs: [{ actorId: "bob", ${POSTED} }]) { error { code } } }`,
    ],
    outcome: only(['service'], 'asked', 'FORBIDDEN'),
  },
  'PublishActionInput.descriptor': {
    calls: [
      `mutation { publishAction(input: { ${RATED('bob')} }) { isReplay } }`,
      `mutation { publishActions(inputs: [{ ${RATED('bob')} }]) { error { code } } }`,
    ],
    outcome: only(['service'], 'asked', 'FORBIDDEN'),
  },
  'UpdateActionInput.descriptor': {
    calls: [`mutation { updateAction(id: "$rated", input: { ${RATED('bob')} }) { version } }`],
    outcome: only(['service'], 'asked', 'FORBIDDEN'),
  },
  'PublishActionInput.idempotencyKey': {
    calls: [`mutation { publishAction(input: { idempotencyKey: "known", ${POSTED} }) { isReplay } }`],
    outcome: all('replay'),
  },
  'RecordInteractionInput.idempotencyKey': {
    calls: [
      'mutation { addInteraction(input: { actionId: "$bobs", kind: COMMENT, text: "other", idempotencyKey: "known" }) { isReplay } }',
    ],
    outcome: all('replay'),
  },
  'RecordInteractionInput.actorId': {
    calls: [
      'mutation { addInteraction(input: { actionId: "$bobs", kind: LIKE, actorId: "cid" }) { isReplay } }',
    ],
    outcome: only(['service'], 'asked', 'FORBIDDEN'),
  },
  'explainFeedItem(memberId)': {
    calls: ['{ explainFeedItem(actionId: "$bobs", memberId: "bob") { withheldBy } }'],
    outcome: only(['admin'], 'ok', 'FORBIDDEN'),
  },
  'explainNotification(memberId)': {
    calls: ['{ explainNotification(actionId: "$bobs", kind: LIKE, memberId: "bob") { withheldBy } }'],
    outcome: only(['admin'], 'ok', 'FORBIDDEN'),
  },
  'memberExport(memberId)': {
    calls: ['{ memberExport(memberId: "bob") }'],
    outcome: only(['admin'], 'ok', 'FORBIDDEN'),
  },
  'actions(includeHidden)': {
    calls: ['{ actions(includeHidden: true) { edges { cursor } } }'],
    outcome: only(['admin', 'service'], 'ok', 'FORBIDDEN'),
  },
  'scheduledActions(actorId)': {
    calls: ['{ scheduledActions(actorId: "bob") { edges { cursor } } }'],
    outcome: only(['admin', 'service'], 'ok', 'FORBIDDEN'),
  },
  'FollowInput.followerId': {
    calls: ['mutation { followMany(pairs: [{ followerId: "bob", refId: "cid" }]) }'],
    outcome: only(['service'], 'ok', 'FORBIDDEN'),
  },
  'FollowInput.isAssigned': {
    calls: ['mutation { followMany(pairs: [{ followerId: "$me", refId: "cid", isAssigned: true }]) }'],
    outcome: only(['service'], 'ok', 'FORBIDDEN'),
  },
  'FollowPairInput.followerId': {
    calls: ['mutation { unfollowMany(pairs: [{ followerId: "bob", refId: "cid" }]) }'],
    outcome: only(['service'], 'ok', 'FORBIDDEN'),
  },
};

/**
 * What says what is meant, and is checked alike for everybody who may call the field at all. Which fields need a role is in
 * another table (`test/e2e/bad-input-access.test.ts`).
 */
const PLAIN: ReadonlySet<string> = new Set(
  [
    'after alt archived auth actionId actionIds actorIds at before blurhash channel conducted copyLimit data days departmentId descriptor email',
    'endpoint expiresAt fanOutState field filter first from height id ids ifVersion imageUrl impressions input inputs interactionId isDismissed isExclusive last',
    'isOn keepHistory kind kinds label link listId locale memberId members mentions ms name not order outcome own p256dh pairs parentId phrase',
    'preferences publishAt reaction reason reasons recipients refId refIds refs scope search since snoozed state supervisorId tags target',
    'teamId text timeZone to type types unreadOnly until upTo url value view width',
  ].flatMap((names) => names.split(' ')),
);

test('every argument and every input field is one that the role decides about, or one that nothing depends on', async () => {
  const schema = await buildSchema();
  const found: { readonly name: string; readonly plain: string }[] = [];
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    // What an action is about: texts and ids of its type.
    const isOfType = schema.getType(type.name.replace(/Input$/u, 'Descriptor')) !== undefined;
    if (isInputObjectType(type) && !isOfType && type.name !== 'DescriptorInput')
      for (const field of Object.keys(type.getFields()))
        found.push({ name: `${type.name}.${field}`, plain: field });
    if (isObjectType(type))
      for (const field of Object.values(type.getFields()))
        for (const { name } of field.args) found.push({ name: `${field.name}(${name})`, plain: name });
  }
  expect(found.filter(({ name, plain }) => !(name in TRUST) && !PLAIN.has(plain))).toEqual([]);
  const names = found.map(({ name }) => name);
  expect(Object.keys(TRUST).filter((name) => !names.includes(name))).toEqual([]);
  const docs = readFileSync(new URL('../../../docs/access.md', import.meta.url), 'utf8');
  expect(Object.keys(TRUST).filter((name) => !docs.includes(`\`${name}\``))).toEqual([]);
});

test('what an argument changes of the checks is decided by the role of the caller', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  let asked = 0;
  const ask = () => Promise.resolve({ verdict: 'accept' as const, asked: (asked += 1) });
  const core: Core = { ...parts.core, hooks: { beforePublish: ask, beforeInteract: ask } };
  const schema = await buildSchema();
  const idOf = (published: { readonly action: { readonly id: string } }): string =>
    encodeActionId(published.action.id);
  const bobs = await parts.publish({ actorId: 'bob', scope: 'PUBLIC' });
  for (const role of ROLES) {
    // Every role has one's own content.
    const me = `my${role}`;
    const descriptor = { posted: { postId: 'p', postTitle: 'T', text: 'first' } };
    await services.publishAction(session(me).identity, { idempotencyKey: 'known', descriptor });
    const comment = { actionId: bobs.action.id, kind: 'COMMENT', text: 'first', idempotencyKey: 'known' };
    await services.addInteraction(session(me), comment);
    const rating = {
      ...{ raterId: me, raterName: 'R', applicantId: 'a', applicantName: 'M' },
      ...{ positionId: 'p', positionName: 'C', ratingScore: 9 },
    };
    const rated = await parts.publish({ actorId: me, descriptor: { applicationRating: rating } });
    const ids: Readonly<Record<string, string>> = { me, bobs: idOf(bobs), rated: idOf(rated) };
    for (const [name, { calls, outcome }] of Object.entries(TRUST))
      for (const call of calls) {
        asked = 0;
        const document = call.replaceAll(/\$(\w+)/gu, (_, id: string) => ids[id] ?? '');
        const { data, errors } = await runOperation(
          schema,
          core,
          {
            ...{ document, variables: {}, locale: 'en' },
            identity: { userId: me, roles: new Set<Role>(['user', role]), expiresAt: null },
          },
          { isUnavailable: () => false, report: (error) => expect(error).toBeUndefined() },
        );
        const text = JSON.stringify([data, errors]);
        const code = /"code":"(\w+)"/u.exec(text)?.[1];
        const done = text.includes('"isReplay":true') ? 'replay' : 'ok';
        expect({ name, role, call, came: code ?? (asked > 0 ? 'asked' : done) }).toEqual({
          ...{ name, role, call, came: outcome[role] },
        });
      }
  }
});

test('an import by anybody but a service is recorded for hosts like everything else', async () => {
  await using parts = await openParts({ recordsEvents: true });
  const input = { scope: 'PUBLIC', descriptor: { posted: { postId: 'p', postTitle: 'T', text: 'x' } } };
  for (const [userId, role] of [
    ['ann', 'user'],
    ['root', 'admin'],
    ['host', 'service'],
  ] as const)
    await parts.services.publishActions(parts.session(userId, role).identity, [input], { isBulk: true });
  const recorded = await parts.database.collections.actions.distinct('actorId', {
    'fanOut.recordsHostEvents': true,
  });
  expect(recorded.sort()).toEqual(['ann', 'root']);
});
