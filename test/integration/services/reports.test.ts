import { eventSourcesRepository } from '../../../parts/events/src/store/event-sources.ts';
import { expect, test } from 'vitest';
import type { Core } from '../../../src/core/core.ts';
import { report, type ReportInput } from '../../../src/features/reports/reports.ts';
import { fc } from '../../support/fast-check.ts';
import { openParts, type Parts } from '../../support/parts.ts';
import { repeats } from '../../support/seed.ts';

const NONE = { actionId: null, interactionId: null, memberId: null };
const moderator = (parts: Parts) => parts.session('mona', 'moderator');

/** Reports as a member. */
function reported(parts: Parts, by: string, what: Partial<ReportInput>, core: Core = parts.core) {
  return report(core, parts.session(by), { ...NONE, reason: 'spam', ...what });
}

async function posted(parts: Parts, actorId = 'actor'): Promise<string> {
  return (await parts.publish({ scope: 'PUBLIC', actorId })).action.id;
}

async function queue(parts: Parts, first = 10): Promise<string[]> {
  const lines: string[] = [];
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<Parts['services']['readReports']>> = await parts.services.readReports(
      moderator(parts),
      { first, after },
    );
    lines.push(...page.edges.map(({ node }) => `${node.state} ${String(node.open)} ${node.target.actorId}`));
    after = page.hasMore ? page.end : null;
  } while (after !== null);
  return lines;
}

test('counts each member once, and lists what most have reported first, then the oldest', async () => {
  await using parts = await openParts();
  await parts.services.upsertMembers(parts.service, [{ memberId: 'rude', name: 'Rude' }]);
  const actionId = await posted(parts, 'zoe');
  const { interaction } = await parts.services.addInteraction(parts.session('yan'), {
    ...{ actionId, kind: 'COMMENT', text: 'Bad words' },
  });
  const first = await reported(parts, 'ann', { memberId: 'rude', text: 'Shouts' });
  expect((await reported(parts, 'ann', { memberId: 'rude', reason: 'other' })).reports).toMatchObject([
    { by: 'ann', reason: 'spam', text: 'Shouts' },
  ]);
  await reported(parts, 'ann', { interactionId: interaction.id });
  await reported(parts, 'ann', { actionId });
  await reported(parts, 'bob', { actionId });
  const sorted = ['OPEN 2 zoe', 'OPEN 1 rude', 'OPEN 1 yan'];
  expect(await queue(parts)).toEqual(sorted);
  expect(await queue(parts, 1)).toEqual(sorted);
  expect(first).toMatchObject({ state: 'OPEN', open: 1 });
});

test('is taken by one moderator, resolved with an outcome, and open again when another member reports it', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const { id } = await reported(parts, 'ann', { actionId: await posted(parts, 'zoe') });
  expect(await services.takeReport(moderator(parts), id)).toMatchObject({ state: 'TAKEN', takenBy: 'mona' });
  expect(await services.takeReport(moderator(parts), id)).toMatchObject({ state: 'TAKEN' });
  const other = parts.session('root', 'admin');
  await expect(services.takeReport(other, id)).rejects.toMatchObject({ code: 'CONFLICT' });
  const done = { outcome: 'Warned', isDismissed: false };
  for (let calls = 0; calls < 2; calls += 1)
    expect(await services.resolveReport(other, id, done)).toMatchObject({
      ...{ state: 'RESOLVED', outcome: 'Warned', resolvedBy: 'root', open: 0 },
    });
  await expect(services.takeReport(other, id)).rejects.toMatchObject({ code: 'CONFLICT' });
  await expect(
    services.resolveReport(other, id, { outcome: 'Nothing', isDismissed: true }),
  ).rejects.toMatchObject({ code: 'CONFLICT' });
  const { target } = await services
    .readReports(other, {})
    .then(({ edges }) => edges[0]?.node ?? { target: null });
  const actionId = target?.kind === 'action' ? target.actionId : '';
  expect(await reported(parts, 'ann', { actionId })).toMatchObject({ state: 'RESOLVED' });
  expect(await reported(parts, 'bob', { actionId })).toMatchObject({ id, state: 'OPEN', open: 1 });
});

test('only what one may see of others can be reported, and only moderators see the queue', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const actionId = await posted(parts, 'zoe');
  const secret = await parts.publish({ scope: 'RESTRICTED', recipients: ['bob'], actorId: 'zoe' });
  const refused: readonly (readonly [string, Partial<ReportInput>, string])[] = [
    ['zoe', { actionId }, 'BAD_USER_INPUT'],
    ['ann', {}, 'BAD_USER_INPUT'],
    ['ann', { actionId, memberId: 'zoe' }, 'BAD_USER_INPUT'],
    ['ann', { actionId, reason: '' }, 'BAD_USER_INPUT'],
    ['ann', { actionId: secret.action.id }, 'NOT_FOUND'],
    ['ann', { memberId: 'nobody' }, 'NOT_FOUND'],
  ];
  for (const [by, what, code] of refused)
    await expect(reported(parts, by, what)).rejects.toMatchObject({ code });
  const { id } = await reported(parts, 'ann', { actionId });
  for (const session of [parts.session('ann'), parts.session('host', 'service')]) {
    await expect(services.readReports(session, {})).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(services.takeReport(session, id)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(
      services.resolveReport(session, id, { outcome: 'x', isDismissed: true }),
    ).rejects.toMatchObject({ code: 'FORBIDDEN' });
  }
});

test('hides what so many have reported until somebody has looked, and not again after that', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const core = { ...parts.core, reportHideAfter: 2 };
  const actionId = await posted(parts, 'zoe');
  const { interaction } = await services.addInteraction(parts.session('yan'), {
    ...{ actionId, kind: 'COMMENT', text: 'Bad words' },
  });
  const isSeen = async (): Promise<boolean> =>
    (await services.getAction(parts.session('eve'), actionId)) !== null;
  await reported(parts, 'ann', { interactionId: interaction.id }, core);
  await reported(parts, 'bob', { interactionId: interaction.id }, core);
  expect(await services.getInteraction(parts.session('eve'), interaction.id)).toBeNull();
  await reported(parts, 'ann', { actionId }, core);
  await reported(parts, 'ann', { actionId }, core);
  expect(await isSeen()).toBe(true);
  const { id } = await reported(parts, 'bob', { actionId }, core);
  expect(await isSeen()).toBe(false);
  await services.takeReport(moderator(parts), id);
  expect(await isSeen()).toBe(false);
  await services.resolveReport(moderator(parts), id, { outcome: 'Fine', isDismissed: true });
  expect(await isSeen()).toBe(true);
  await reported(parts, 'cid', { actionId }, core);
  await reported(parts, 'dan', { actionId }, core);
  expect(await isSeen()).toBe(true);
  const log = await services.readModerationLog(moderator(parts), { actionId });
  expect(log.edges.map(({ node }) => `${node.kind} ${node.by}`)).toEqual([
    'UNHIDE mona',
    'HIDE automatic',
    'HIDE_INTERACTION automatic',
  ]);
});

test('what a moderator shows again stays shown, however many report it', async () => {
  await using parts = await openParts();
  const core = { ...parts.core, reportHideAfter: 1 };
  const actionId = await posted(parts, 'zoe');
  await reported(parts, 'ann', { actionId }, core);
  await parts.services.unhideAction(moderator(parts), actionId);
  await reported(parts, 'bob', { actionId }, core);
  expect(await parts.services.getAction(parts.session('eve'), actionId)).not.toBeNull();
  expect(await queue(parts)).toEqual(['OPEN 2 zoe']);
});

test('a moderator hides and shows again, and may not delete, erase, export or administer', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const mona = moderator(parts);
  const actionId = await posted(parts, 'zoe');
  await services.hideAction(mona, actionId, 'Why');
  expect(await services.getAction(mona, actionId)).toMatchObject({ isHidden: true });
  await services.unhideAction(mona, actionId);
  const forbidden: readonly (() => Promise<unknown>)[] = [
    () => services.deleteAction(mona, actionId),
    () => services.eraseMember(mona.identity, 'zoe'),
    () => services.memberExport(mona, 'zoe'),
    () => services.retryFanOut(mona.identity, actionId),
  ];
  for (const call of forbidden) await expect(call()).rejects.toMatchObject({ code: 'FORBIDDEN' });
});

test('records an event for each report and resolution, which names nobody who reported', async () => {
  await using parts = await openParts({ recordsEvents: true });
  const actionId = await posted(parts, 'zoe');
  const { id } = await reported(parts, 'ann', { actionId });
  await reported(parts, 'ann', { actionId });
  await parts.services.resolveReport(moderator(parts), id, { outcome: 'Warned', isDismissed: false });
  const { events } = await eventSourcesRepository(parts.database.collections).read(
    new Date(Date.now() + 1_000),
    100,
  );
  const ofReports = events.filter(({ type }) => type.startsWith('report.'));
  expect(ofReports.map(({ type }) => type)).toEqual(['report.created', 'report.resolved']);
  for (const { facts } of ofReports)
    expect(facts).toEqual({ actionId, actorId: 'zoe', reportId: id, reportState: 'RESOLVED' });
});

test('an erased member is nobody in reports, and what they reported is gone', async () => {
  await using parts = await openParts();
  const { services } = parts;
  const actionId = await posted(parts, 'zoe');
  await services.upsertMembers(parts.service, [{ memberId: 'zoe', name: 'Zoe Zed' }]);
  await reported(parts, 'ann', { actionId });
  await reported(parts, 'bob', { actionId, text: 'Zoe Zed again' });
  await reported(parts, 'ann', { memberId: 'zoe' });
  expect(await services.memberExport(parts.session('ann'), 'ann')).toMatchObject({
    reports: [
      { target: `action:${actionId}`, reports: [{ reason: 'spam' }] },
      { target: 'user:zoe', reports: [{ reason: 'spam' }] },
    ],
  });
  for (const memberId of ['ann', 'zoe']) {
    const subject = { memberId, names: ['Zoe Zed'], pseudonym: `erased:${memberId}` };
    while ((await parts.core.reports.anonymise(subject, 10)) > 0);
  }
  const left = JSON.stringify(await parts.core.collections.reports.find().toArray());
  for (const trace of ['ann"', '"zoe', 'user:zoe', 'Zoe']) expect(left).not.toContain(trace);
  expect(left).toContain('bob');
  expect(await queue(parts)).toEqual(['OPEN 1 erased:zoe', 'DISMISSED 0 erased:zoe']);
});

/** A queue, and what is reported after each page. */
const PAGINGS = fc.record({
  size: fc.integer({ min: 1, max: 3 }),
  isUp: fc.boolean(),
  before: fc.array(fc.nat({ max: 5 }), { minLength: 2, maxLength: 10 }),
  between: fc.array(fc.array(fc.nat({ max: 7 }), { maxLength: 4 }), { minLength: 1, maxLength: 6 }),
});

test('what is reported while a moderator pages is neither missed in that paging nor listed twice', async () => {
  await fc.assert(
    fc.asyncProperty(PAGINGS, async ({ size, isUp, before, between }) => {
      await using parts = await openParts();
      let reporters = 0;
      const add = async (n: number): Promise<void> => {
        reporters += 1;
        await reported(parts, `by${String(reporters)}`, { memberId: `m${String(n)}` });
      };
      const names = Array.from({ length: 8 }, (_, n) => ({ memberId: `m${String(n)}`, name: 'M' }));
      await parts.services.upsertMembers(parts.service, names);
      for (const n of before) await add(n);
      const listed: string[] = [];
      let end: string | null = null;
      for (let pages = 0; pages === 0 || end !== null; pages += 1) {
        const page: Awaited<ReturnType<Parts['services']['readReports']>> = await parts.services.readReports(
          moderator(parts),
          { state: 'OPEN', ...(isUp ? { last: size, before: end } : { first: size, after: end }) },
        );
        listed.push(...page.edges.map(({ node }) => node.target.actorId));
        end = page.hasMore ? page.end : null;
        for (const n of between[pages] ?? []) await add(n);
      }
      const there = [...new Set(before)].map((n) => `m${String(n)}`);
      expect(there.filter((one) => !listed.includes(one))).toEqual([]);
      expect(listed.length).toBe(new Set(listed).size);
    }),
    { numRuns: repeats(6) },
  );
});
