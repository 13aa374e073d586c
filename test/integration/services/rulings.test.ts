import { expect, test } from 'vitest';
import { createRepositories } from '../../../src/app/repositories.ts';
import type { Core } from '../../../src/core/core.ts';
import { addInteraction } from '../../../src/features/interactions/add-interaction.ts';
import {
  hideInteraction,
  unhideInteraction,
  updateInteraction,
} from '../../../src/features/interactions/moderate-interaction.ts';
import { hideAction, unhideAction } from '../../../src/features/moderation/moderate-action.ts';
import { publishAction } from '../../../src/features/publish/publish-action.ts';
import { updateAction } from '../../../src/features/publish/update-action.ts';
import { carryOutRulings, report, resolveReport } from '../../../src/features/reports/reports.ts';
import type { Collections } from '../../../src/storage/database/mongo.ts';
import { hold, type Held } from '../../support/held.ts';
import { openParts, type Parts } from '../../support/parts.ts';

const NONE = { actionId: null, interactionId: null, memberId: null };
const HIDE_AFTER = 2;
const dismissed = { outcome: 'Fine', isDismissed: true };
const resolved = { outcome: 'Bad', isDismissed: false };
const moderator = (parts: Parts) => parts.session('mona', 'moderator');
const other = (parts: Parts) => parts.session('olga', 'moderator');

/** An action of zoe, or a comment of hers, that one more report hides. */
interface Thing {
  readonly parts: Parts;
  readonly core: Core;
  readonly id: string;
  /** Of the report. */
  readonly reportId: string;
  readonly reportBy: (userId: string, core?: Core) => Promise<unknown>;
  readonly hide: (core?: Core, reason?: string) => Promise<unknown>;
  readonly unhide: (core?: Core) => Promise<unknown>;
  readonly edit: (text: string, core?: Core) => Promise<unknown>;
  readonly isSeen: () => Promise<boolean>;
  /** Stops the call with this core between its decision and what follows from it. */
  readonly beforeEffect: () => { readonly held: Held; readonly core: Core };
}

const descriptorOf = (text: string) => ({ posted: { postId: 'p', postTitle: 'T', text } });

async function openThing(parts: Parts, kind: 'action' | 'comment'): Promise<Thing> {
  const core: Core = { ...parts.core, reportHideAfter: HIDE_AFTER };
  const { services, session } = parts;
  const { action } = await services.publishAction(parts.service, {
    ...{ actorId: 'zoe', scope: 'PUBLIC', descriptor: descriptorOf('Hello') },
  });
  const isAction = kind === 'action';
  const id = isAction
    ? action.id
    : (
        await services.addInteraction(session('zoe'), {
          ...{ actionId: action.id, kind: 'COMMENT', text: 'Hello' },
        })
      ).interaction.id;
  const reportBy = (userId: string, by = core) =>
    report(by, session(userId), { ...NONE, [isAction ? 'actionId' : 'interactionId']: id, reason: 'spam' });
  const { id: reportId } = await reportBy('ann');
  return {
    ...{ parts, core, id, reportId, reportBy },
    hide: (by = core, reason = 'Rude') =>
      (isAction ? hideAction : hideInteraction)(by, moderator(parts), id, reason),
    unhide: (by = core) => (isAction ? unhideAction : unhideInteraction)(by, moderator(parts), id),
    edit: (text, by = core) =>
      isAction
        ? updateAction(by, session('zoe'), id, { descriptor: descriptorOf(text) })
        : updateInteraction(by, session('zoe'), id, text),
    isSeen: async () =>
      (await (isAction
        ? services.getAction(session('eve'), id)
        : services.getInteraction(session('eve'), id))) !== null,
    beforeEffect() {
      const held = hold();
      const { moderation, interactions } = core;
      return {
        held,
        core: {
          ...core,
          moderation: { ...moderation, rule: (...args) => held.wait().then(() => moderation.rule(...args)) },
          interactions: {
            ...interactions,
            rule: (...args) => held.wait().then(() => interactions.rule(...args)),
          },
        },
      };
    },
  };
}

const resolve = ({ reportId }: Thing, core: Core, how: typeof dismissed, parts: Parts, by = moderator) =>
  resolveReport(core, by(parts), reportId, how);

async function reasonsOf({ parts }: Thing): Promise<string[]> {
  const log = await parts.services.readModerationLog(moderator(parts), {});
  return log.edges.map(
    ({ node }) => `${node.kind.replace('_INTERACTION', '')} ${node.by} ${node.reason ?? ''}`,
  );
}

async function stateOf({ parts, reportId }: Thing): Promise<string> {
  const found = await parts.core.reports.find(reportId);
  return `${found?.state ?? ''} ${String(found?.open)} ${found?.isWithheld === true ? 'withheld' : ''}`.trim();
}

/** Whose writes that hide or show something come late: when they are let go. */
function lateOf(collections: Collections, held: Held): Collections {
  const late = <C extends object>(collection: C): C =>
    new Proxy(collection, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        const call = (...args: unknown[]): unknown => Reflect.apply(value, target, args) as unknown;
        return name === 'findOneAndUpdate'
          ? (...args: unknown[]) => held.wait().then(() => call(...args))
          : call;
      },
    });
  return { ...collections, actions: late(collections.actions), interactions: late(collections.interactions) };
}

const BY_MANY = 'HIDE automatic Reported by many, until somebody has looked';

/** As upkeep finds it much later. */
const mend = ({ core }: Thing) => carryOutRulings(core, new Date(Date.now() + 60_000));

const KINDS = ['action', 'comment'] as const;

test.each(KINDS)('%s: the report that hides it and a dismissal: shown, in both orders', async (kind) => {
  await using parts = await openParts();
  const first = await openThing(parts, kind);
  const reporting = first.beforeEffect();
  const reported = first.reportBy('bob', reporting.core);
  await reporting.held.isReached;
  await resolve(first, first.core, dismissed, parts);
  reporting.held.letGo();
  await reported;
  expect([await first.isSeen(), await stateOf(first)]).toEqual([true, 'DISMISSED 0']);

  const second = await openThing(parts, kind);
  await second.reportBy('bob');
  expect(await second.isSeen()).toBe(false);
  const dismissing = second.beforeEffect();
  const dismissal = resolve(second, dismissing.core, dismissed, parts);
  await dismissing.held.isReached;
  await expect(second.reportBy('cid')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  dismissing.held.letGo();
  await dismissal;
  await second.reportBy('cid');
  expect([await second.isSeen(), await stateOf(second)]).toEqual([true, 'OPEN 1']);
});

test.each(KINDS)('%s: of two resolutions at once only the first has an effect', async (kind) => {
  await using parts = await openParts();
  for (const [first, second, isSeen] of [
    [dismissed, resolved, true],
    [resolved, dismissed, false],
  ] as const) {
    const thing = await openThing(parts, kind);
    await thing.reportBy('bob');
    const { held, core } = thing.beforeEffect();
    const winner = resolve(thing, core, first, parts);
    await held.isReached;
    await expect(resolve(thing, thing.core, second, parts, other)).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    held.letGo();
    await winner;
    expect(await thing.isSeen()).toBe(isSeen);
  }
});

test.each(KINDS)('%s: resolved while the report that hides it is on its way, it is hidden', async (kind) => {
  await using parts = await openParts();
  const thing = await openThing(parts, kind);
  const { held, core } = thing.beforeEffect();
  const reported = thing.reportBy('bob', core);
  await held.isReached;
  await resolve(thing, thing.core, resolved, parts);
  held.letGo();
  await reported;
  expect([await thing.isSeen(), await stateOf(thing)]).toEqual([false, 'RESOLVED 0']);
});

test.each(KINDS)(
  '%s: a moderator shows it while the report that hides it is on its way: shown',
  async (kind) => {
    await using parts = await openParts();
    const thing = await openThing(parts, kind);
    const { held, core } = thing.beforeEffect();
    const reported = thing.reportBy('bob', core);
    await held.isReached;
    await thing.unhide();
    held.letGo();
    await reported;
    expect([await thing.isSeen(), await stateOf(thing)]).toEqual([true, 'OPEN 2']);
  },
);

test.each(KINDS)(
  '%s: what reports hid and a moderator hides stays hidden, with their reason',
  async (kind) => {
    await using parts = await openParts();
    const thing = await openThing(parts, kind);
    await thing.reportBy('bob');
    await thing.hide();
    await thing.hide();
    expect(await reasonsOf(thing)).toEqual(['HIDE mona Rude', BY_MANY]);
    expect(await stateOf(thing)).toBe('TAKEN 2');
    await resolve(thing, thing.core, dismissed, parts);
    expect(await thing.isSeen()).toBe(false);
    await thing.unhide();
    expect(await thing.isSeen()).toBe(true);
  },
);

test.each(KINDS)('%s: a dismissal and a moderator who hides it: hidden, in both orders', async (kind) => {
  await using parts = await openParts();
  const first = await openThing(parts, kind);
  await first.reportBy('bob');
  const dismissing = first.beforeEffect();
  const dismissal = resolve(first, dismissing.core, dismissed, parts);
  await dismissing.held.isReached;
  await first.hide();
  dismissing.held.letGo();
  await dismissal;
  expect(await first.isSeen()).toBe(false);

  const second = await openThing(parts, kind);
  await second.reportBy('bob');
  const hiding = second.beforeEffect();
  const hidden = second.hide(hiding.core);
  await hiding.held.isReached;
  await resolve(second, second.core, dismissed, parts, other);
  hiding.held.letGo();
  await hidden;
  expect(await second.isSeen()).toBe(false);
});

test.each(KINDS)(
  '%s: hidden by a moderator before the report that would hide it, it stays so',
  async (kind) => {
    await using parts = await openParts();
    const thing = await openThing(parts, kind);
    const { held, core } = thing.beforeEffect();
    const reported = thing.reportBy('bob', core);
    await held.isReached;
    await thing.hide();
    held.letGo();
    await reported;
    await resolve(thing, thing.core, dismissed, parts);
    expect([await thing.isSeen(), await reasonsOf(thing)]).toEqual([false, ['HIDE mona Rude']]);
  },
);

test.each(KINDS)('%s: what was cut off after a decision is done by upkeep, once', async (kind) => {
  await using parts = await openParts();
  const thing = await openThing(parts, kind);
  const { moderation, interactions } = thing.core;
  const die = () => Promise.reject(new Error('Died'));
  const dying: Core = {
    ...thing.core,
    moderation: { ...moderation, rule: die },
    interactions: { ...interactions, rule: die },
  };
  await expect(thing.reportBy('bob', dying)).rejects.toThrow('Died');
  expect(await thing.isSeen()).toBe(true);
  await mend(thing);
  expect(await thing.isSeen()).toBe(false);
  await expect(resolve(thing, dying, dismissed, parts)).rejects.toThrow('Died');
  await mend(thing);
  await mend(thing);
  expect([await thing.isSeen(), await reasonsOf(thing)]).toEqual([true, ['UNHIDE mona ', BY_MANY]]);
  expect(await thing.core.reports.ruledBefore(new Date(Date.now() + 60_000), null, 10)).toEqual([]);
});

test.each(KINDS)('%s: shown again by a call that is cut off, it is what the queue says', async (kind) => {
  await using parts = await openParts();
  const thing = await openThing(parts, kind);
  await thing.reportBy('bob');
  const die = () => Promise.reject(new Error('Died'));
  const { reports, moderation, interactions } = thing.core;
  await expect(thing.unhide({ ...thing.core, reports: { ...reports, release: die } })).rejects.toThrow(
    'Died',
  );
  await mend(thing);
  expect([await thing.isSeen(), await stateOf(thing)]).toEqual([false, 'OPEN 2 withheld']);
  const dying: Core = {
    ...thing.core,
    moderation: { ...moderation, rule: die, apply: die },
    interactions: { ...interactions, rule: die, setHidden: die },
  };
  await expect(thing.unhide(dying)).rejects.toThrow('Died');
  await mend(thing);
  expect([await thing.isSeen(), await stateOf(thing)]).toEqual([true, 'OPEN 2']);
  await thing.edit('Worse');
  for (const userId of ['ann', 'bob']) await thing.reportBy(userId);
  expect([await thing.isSeen(), await stateOf(thing)]).toEqual([false, 'OPEN 4 withheld']);
});

test.each(KINDS)('%s: a write that comes late does not show what was withheld since', async (kind) => {
  await using parts = await openParts();
  const thing = await openThing(parts, kind);
  await thing.reportBy('bob');
  const held = hold();
  const { database } = parts;
  const late = createRepositories(lateOf(database.collections, held));
  const written = thing.unhide({
    ...thing.core,
    moderation: { ...thing.core.moderation, apply: late.moderation.apply },
    interactions: { ...thing.core.interactions, setHidden: late.interactions.setHidden },
    reports: { ...thing.core.reports, release: () => Promise.resolve(null) },
  });
  await held.isReached;
  await thing.unhide();
  await thing.edit('Worse');
  for (const userId of ['ann', 'bob']) await thing.reportBy(userId);
  held.letGo();
  await written;
  expect([await thing.isSeen(), await stateOf(thing)]).toEqual([false, 'OPEN 4 withheld']);
});

test.each(KINDS)(
  '%s: a report is of a version: after a dismissal and an edit all can report it again',
  async (kind) => {
    await using parts = await openParts();
    const thing = await openThing(parts, kind);
    await thing.reportBy('bob');
    await resolve(thing, thing.core, dismissed, parts);
    await thing.reportBy('bob');
    expect(await stateOf(thing)).toBe('DISMISSED 0');
    await thing.edit('Worse');
    for (const userId of ['ann', 'ann']) await thing.reportBy(userId);
    expect([await thing.isSeen(), await stateOf(thing)]).toEqual([true, 'OPEN 1']);
    await thing.reportBy('bob');
    expect([await thing.isSeen(), await stateOf(thing)]).toEqual([false, 'OPEN 2 withheld']);
    // Until somebody has looked, an edit wins nothing.
    await resolve(thing, thing.core, dismissed, parts);
    await thing.edit('Worst');
    await thing.reportBy('ann');
    await thing.edit('Worst of all');
    await thing.reportBy('ann');
    expect(await stateOf(thing)).toBe('OPEN 1');
    await thing.reportBy('bob');
    expect(await thing.isSeen()).toBe(false);
  },
);

test.each(KINDS)(
  '%s: an edit that the host holds, dismissed before it is written, is in the queue',
  async (kind) => {
    await using parts = await openParts();
    const thing = await openThing(parts, kind);
    const held = hold();
    const holds = () => Promise.resolve({ verdict: 'hold' } as const);
    const { edits, interactions } = thing.core;
    const core: Core = {
      ...thing.core,
      hooks: { beforePublish: holds, beforeInteract: holds },
      edits: { ...edits, edit: (...args) => held.wait().then(() => edits.edit(...args)) },
      interactions: {
        ...interactions,
        edit: (...args) => held.wait().then(() => interactions.edit(...args)),
      },
    };
    const edited = thing.edit('Held', core);
    await held.isReached;
    await resolve(thing, thing.core, dismissed, parts);
    expect(await thing.isSeen()).toBe(true);
    held.letGo();
    await edited;
    expect([await thing.isSeen(), await stateOf(thing)]).toEqual([false, 'OPEN 0 withheld']);
  },
);

test('what the host holds and a moderator dismisses before it is recorded is shown', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  const holds = () => Promise.resolve({ verdict: 'hold' } as const);
  const core: Core = { ...parts.core, hooks: { beforePublish: holds, beforeInteract: holds } };
  const held = hold();
  const queued: Core = {
    ...core,
    reports: {
      ...core.reports,
      hold: (...args) => core.reports.hold(...args).then((made) => held.wait().then(() => made)),
    },
  };
  const publication = publishAction(queued, parts.service, {
    ...{ actorId: 'zoe', scope: 'PUBLIC', descriptor: descriptorOf('Held') },
  });
  await held.isReached;
  const { edges } = await services.readReports(moderator(parts), {});
  await resolveReport(core, moderator(parts), edges[0]?.node.id ?? '', dismissed);
  held.letGo();
  const { id } = (await publication).action;
  await carryOutRulings(core, new Date(Date.now() + 60_000));
  expect(await services.getAction(session('eve'), id)).not.toBeNull();
});

test('a like that is removed while the host holds it is as was decided when it is given again', async () => {
  await using parts = await openParts();
  const { services, session } = parts;
  const { action } = await parts.publish({ scope: 'PUBLIC' });
  const like = { actionId: action.id, kind: 'LIKE' } as const;
  const holds = () => Promise.resolve({ verdict: 'hold' } as const);
  const core: Core = { ...parts.core, hooks: { beforePublish: null, beforeInteract: holds } };
  const { interaction } = await addInteraction(core, session('zoe'), like);
  await services.removeInteraction(session('zoe'), { own: like });
  const [entry] = (await services.readReports(moderator(parts), {})).edges;
  await services.resolveReport(moderator(parts), entry?.node.id ?? '', dismissed);
  const again = await services.addInteraction(session('zoe'), like);
  expect(again.interaction).toMatchObject({ id: interaction.id, state: 'VISIBLE' });
});

test('an entry whose only reporter is erased is closed, unless it is hidden until somebody has looked', async () => {
  await using parts = await openParts();
  const erase = async (memberId: string): Promise<void> => {
    const subject = { memberId, names: [], pseudonym: `erased:${memberId}` };
    while ((await parts.core.reports.anonymise(subject, 10)) > 0);
  };
  const open = await openThing(parts, 'action');
  const withheld = await openThing(parts, 'comment');
  await withheld.reportBy('bob');
  const again = await openThing(parts, 'action');
  await resolve(again, again.core, dismissed, parts);
  await again.reportBy('dan');
  await erase('ann');
  expect(await Promise.all([open, withheld, again].map(stateOf))).toEqual([
    ...['DISMISSED 0', 'OPEN 1 withheld', 'OPEN 1'],
  ]);
  await erase('bob');
  expect(await stateOf(withheld)).toBe('OPEN 0 withheld');
});
