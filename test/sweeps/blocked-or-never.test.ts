import { expect, test } from 'vitest';
import { buildSchema } from '../../src/app/schema.ts';
import type { Core } from '../../src/core/core.ts';
import {
  encodeActionId,
  encodeInteractionId,
  encodeMemberId,
  encodeRefId,
} from '../../src/graphql/global-id.ts';
import type { Role } from '../../src/domain/viewer.ts';
import { runOperation } from '../../src/graphql/run-operation.ts';
import { renames } from '../../src/features/directory/jobs/renames.ts';
import { runnerOf } from '../support/jobs.ts';
import { openParts } from '../support/parts.ts';
import { rowsOf } from '../support/tenant-table.ts';
import { READS, writesOf } from '../support/ways-to-members.ts';

/** Only for staff: an error of theirs would leave the rest without an answer. */
const FOR_STAFF: ReadonlySet<string> = new Set(['Ref.followers']);

/** Beyond the table: all that one can do to somebody by their id, again and in other ways. */
const MORE_WRITES: readonly string[] = [
  'follow(refId: "$them", types: ["Posted"])',
  'follow(refId: "$them", copyLimit: 0, types: null)',
  'unfollow(refId: "$them", keepHistory: true)',
  'unfollow(refId: "$them", keepHistory: true)',
  'follow(refId: "$them")',
  'unfollow(refId: "$them", keepHistory: false)',
  'follow(refId: "$them")',
  'addMute(target: { memberId: "$them" }, until: "2100-01-01T00:00:00Z")',
  'addMute(target: { refId: "$them" })',
  'publishAction(input: { mentions: ["$them"], scope: PUBLIC, descriptor: { posted: { postId: "q2" } } })',
  'reads',
  'pinAction(refId: "$them", actionId: "$own")',
  'follow(refId: "$wrong")',
  'blockMember(memberId: "$them")',
  'blockMember(memberId: "$them")',
  'follow(refId: "$them")',
  'addMute(target: { memberId: "$them" })',
  'reads',
  'unblockMember(memberId: "$them")',
  // Whatever in an action of one's own can be an id, with a name of one's own beside it and without.
  'updateAction(id: "$own", input: { refs: [{ id: "$them", type: "person", label: "Called so" }] })',
  'node(id: "$own")',
  'publishAction(input: { scope: PUBLIC, refs: [{ id: "$them", type: "person", label: "Called else" }], descriptor: { posted: { postId: "q3" } } })',
  'publishAction(input: { scope: PUBLIC, descriptor: { posted: { postId: "$them", postTitle: "My post" } } })',
  'publishAction(input: { scope: PUBLIC, descriptor: { followed: { followedId: "$them", followedName: "Whom I follow" } } })',
  'publishAction(input: { scope: PUBLIC, descriptor: { liked: { objectType: "post", objectId: "$them" } } })',
  'publishActions(inputs: [{ scope: PUBLIC, descriptor: { applicationRating: { raterId: "bob", raterName: "B", applicantId: "$them", applicantName: "Applicant", positionId: "$them", positionName: "P", ratingScore: 1 } } }])',
  'rename',
  'node(id: "$own")',
  'slice(refId: "bob")',
  'reads',
  'addMute(target: { refId: "$them" })',
  // Of whom only an action knows more than the id.
  'follow(refId: "$them", copyLimit: 0)',
  'slice(refId: "bob")',
  'unfollow(refId: "$them", keepHistory: false)',
];

/** Lists and things by id that one changes by what one does to somebody. */
const OWN_READS: ReadonlySet<string> = new Set(['viewer', 'nodes', 'ref', 'member']);

interface Answered {
  readonly call: string;
  readonly answer: string;
}

/** @param them whom Bob names: who blocks him, or nobody */
async function answersFor(them: string): Promise<Answered[]> {
  await using parts = await openParts();
  const sent: unknown[] = [];
  const liveLog: Core['liveLog'] = {
    ...parts.core.liveLog,
    position: (userId) => parts.core.liveLog.position(userId),
    watched: (userIds) => Promise.resolve([...userIds]),
    append: (entries) => Promise.resolve(void sent.push(...entries.filter(({ userId }) => userId === 'bob'))),
  };
  const core: Core = { ...parts.core, liveLog, directory: { isOpen: true } };
  const schema = await buildSchema();
  const { services, service, session } = parts;
  const details = { url: 'https://app.example/ann', imageUrl: 'https://app.example/ann.png', data: 'of ann' };
  await services.upsertMembers(service, [
    { memberId: 'm-one', name: 'Mx Ann', teamId: 't', departmentId: 'd', supervisorId: 'cid', ...details },
    { memberId: 'bob', name: 'Mx Bob', teamId: 't', departmentId: 'd' },
    { memberId: 'cid', name: 'Mx Cid' },
  ]);
  await services.upsertRefs(service, [
    { id: 'site', type: 'site', label: 'Site' },
    { id: 'm-one', type: 'person', label: 'Mx Ann', ...details },
  ]);
  await services.follow(session('cid'), 'm-one', 0);
  await services.follow(session('bob'), 'site', 0);
  const refs = [{ id: 'site', type: 'site', label: 'Site' }];
  const publish = async (actorId: string): Promise<string> =>
    (
      await parts.publish({
        ...{ actorId, scope: 'PUBLIC', refs, idempotencyKey: null },
        descriptor: { posted: { postId: 'p', postTitle: 'T', text: `of ${actorId}` } },
      })
    ).action.id;
  const [theirs, shared, own] = [await publish('m-one'), await publish('cid'), await publish('bob')];
  const { interaction } = await services.addInteraction(session('m-one'), {
    ...{ actionId: shared, kind: 'COMMENT', text: 'of ann' },
  });
  await services.pinAction(session('service', 'service'), 'm-one', theirs);
  await parts.fanOut();
  await services.blockMember(session('m-one'), 'bob');
  const isThere = them === 'm-one';
  const never = 'f'.repeat(24);
  const ids: Readonly<Record<string, string>> = {
    ...{ me: 'bob', them, wrong: 'x'.repeat(300) },
    action: encodeActionId(isThere ? theirs : never),
    comment: encodeInteractionId(isThere ? interaction.id : never),
    reply: encodeInteractionId(never),
    ...{ member: encodeMemberId(them), ref: encodeRefId(them) },
    ...{ shared: encodeActionId(shared), own: encodeActionId(own) },
    ...{ report0: encodeMemberId('x'), report1: encodeMemberId('x'), report2: encodeMemberId('x') },
  };
  const given = (call: string): string =>
    call.replaceAll(/\$(\w+)/gu, (_, name: string) => ids[name] ?? name);
  /** What depends on the moment, and the id that is asked about. */
  const plain = (value: unknown): string =>
    JSON.stringify(value, (name, one: unknown) =>
      ['cursor', 'startCursor', 'endCursor', 'liveCursor', 'ticket'].includes(name) ? '' : one,
    )
      .replaceAll(/[\w+/-]{8,}={0,2}/gu, (text) => {
        const decoded = Buffer.from(text, 'base64').toString('latin1');
        return /^[\w ]+:/u.test(decoded) ? decoded : text;
      })
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/gu, 'at')
      .replaceAll(/[\da-f]{24}/gu, 'id')
      .replaceAll(/"(rev|version|relevancy|score)":[\d.]+/gu, '"$1":0')
      .replaceAll(them, 'THEM');
  const run = async (
    kind: 'query' | 'mutation',
    { field, call, depth = 3 }: { readonly field: string; readonly call: string; readonly depth?: number },
  ): Promise<Answered[]> => {
    const [row] = rowsOf(schema, kind, { [field]: [given(call)] }, depth, FOR_STAFF);
    const identity = { userId: 'bob', roles: new Set<Role>(['user']), expiresAt: null };
    const asked = { document: row?.document ?? '', variables: {}, identity, locale: 'en' };
    const found = await runOperation(schema, core, asked, {
      isUnavailable: () => false,
      report(error) {
        throw error;
      },
    });
    return [{ call, answer: plain(found) }];
  };
  const reads = Object.entries(READS).flatMap(([field, calls]) =>
    (calls ?? []).map((call) => ({ field, call })),
  );
  /** What is carried into actions then. */
  const rename = async (): Promise<void> => {
    await services.renameRef(service, 'm-one', 'Mx Ann Again');
    const names = runnerOf(renames, core);
    while (await names.round()) continue;
  };
  let isNamed = false;
  // By what one's own action calls the id, a search does not find it: the page on safety says so.
  const isLeftOut = (field: string): boolean => isNamed && field === 'refs';
  const read = async (after: string, what: 'all' | 'own'): Promise<Answered[]> => {
    const all: Answered[] = [];
    for (const { field, call } of reads)
      if ((what === 'all' || OWN_READS.has(field)) && !isLeftOut(field))
        all.push(...(await run('query', { field, call, depth: what === 'all' ? 3 : 2 })));
    const exported = await services.memberExport(session('bob'), 'bob');
    for (const [section, entries] of Object.entries(exported)) {
      // In no order.
      const texts = [entries]
        .flat()
        .map((entry: unknown) => plain(entry))
        .sort();
      all.push({ call: `memberExport of ${section}`, answer: texts.join(' ') });
    }
    return all.map(({ call, answer }) => ({ call: `${after}, then ${call}`, answer }));
  };
  const answers = await read('a block', 'all');
  const calls = [...Object.entries(writesOf(schema)).flatMap(([, some]) => some ?? []), ...MORE_WRITES];
  for (const call of calls) {
    const field = /^\w+/u.exec(call)?.[0] ?? '';
    isNamed ||= call.includes('Called so');
    if (field === 'reads') await parts.fanOut();
    else if (field === 'rename') await rename();
    else answers.push(...(await run(field in READS ? 'query' : 'mutation', { field, call })));
    answers.push({ call: `${call}, and watchers are sent`, answer: plain(sent.splice(0)) });
    // What the reader has is read after each that names somebody; everything, and deeper, now and then.
    if (field === 'reads') answers.push(...(await read(call, 'all')));
    else if (call.includes('$them')) answers.push(...(await read(call, 'own')));
  }
  return answers;
}

test('who is blocked is answered about who blocks them as about an id that never existed', async () => {
  const [blocked, never] = [await answersFor('m-one'), await answersFor('m-two')];
  const different = blocked.flatMap(({ call, answer }, index) =>
    answer === never[index]?.answer ? [] : [{ call, blocked: answer, never: never[index]?.answer }],
  );
  expect(different).toEqual([]);
});
