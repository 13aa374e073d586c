import { ObjectId } from 'mongodb';
import { expect } from 'vitest';
import type { PublishActionInput } from '../../src/core/shapes.ts';
import { clock } from '../../src/lib/clock.ts';
import { letExpire } from './expire.ts';
import { maySee, type ModelAction } from './model.ts';
import { descriptorFor, textOf } from './model-descriptors.ts';
import { concern } from './model-edit-steps.ts';
import { during, expectOutcome, found, session, type Run, type StepTo } from './model-run.ts';
import type { Moment, Person } from './model-steps.ts';
import { letComeDue, publicationWorker } from './schedule.ts';

const LONG_AGO = Date.UTC(2020, 0, 1);
const DAY = 86_400_000;

export function toDate(moment: Moment): Date | undefined {
  if (moment === 'now') return undefined;
  if (typeof moment === 'object') return new Date(Date.now() - moment.ago * 60_000);
  return new Date(moment === 'soon' ? Date.now() + 60_000 : LONG_AGO + moment * DAY);
}

export async function publish(run: Run, step: StepTo<'publish'>): Promise<void> {
  const { parts, model, id } = run;
  const { scope, type, tags, text, count, isLater = false } = step;
  const actorId = id(step.actor);
  const asked = type === 'ApplicantRatingRequested' ? id(found(step.asked)) : null;
  const [mentions, recipients, refIds] = [step.mentions, step.recipients, step.refs].map((names) =>
    names.map(id),
  );
  const conducted = isLater ? undefined : toDate(step.conducted);
  const input: PublishActionInput = {
    ...{ actorId, scope, mentions, recipients, conducted },
    refs: found(refIds).map((refId) => ({ id: refId, type: 'thing', label: refId })),
    descriptor: descriptorFor({ type, tags, text, asked }, id),
    ...(isLater ? { publishAt: new Date(Date.now() + DAY) } : {}),
  };
  const { result: outcomes, instant } = await during(() =>
    parts.services.publishActions(
      parts.service,
      Array.from({ length: count }, () => input),
    ),
  );
  const member = model.members.find(({ userId }) => userId === actorId);
  const groupId =
    (scope === 'TEAM' ? member?.teamId : scope === 'DEPARTMENT' ? member?.departmentId : null) ?? null;
  const isRefused = (scope === 'TEAM' || scope === 'DEPARTMENT') && groupId === null;
  for (const { action, error } of outcomes) {
    expect(error?.code ?? null).toBe(isRefused ? 'BAD_USER_INPUT' : null);
    if (action === null) continue;
    const recorded = isLater ? 0 : instant(action.recorded);
    const published: ModelAction = {
      ...{ id: action.id, actorId, recorded, scope, groupId, type, asked, tags, text: textOf(type, text) },
      ...{ mentions: found(mentions), recipients: found(recipients), refIds: found(refIds) },
      conducted: conducted?.getTime() ?? recorded,
      ...{
        interactions: [],
        isHidden: false,
        shownAt: null,
        isDeleted: false,
        version: 1,
        refsGiven: ++model.turn,
      },
      ...{ namedInVain: new Set(), concernedPeople: new Map(), concernedDepartments: new Map() },
      ...{ formerPeople: new Map(), formerDepartments: new Map(), expiresAt: null },
    };
    if (isLater) model.scheduled.push(published);
    else appear(run, published);
  }
}

function appear({ model }: Run, action: ModelAction): void {
  concern(model, action, -Infinity);
  model.actions.push(action);
}

/** It is as if it had been published then, by who its actor was when it was scheduled. */
export async function comeDue(run: Run, { scheduled: number }: StepTo<'comeDue'>): Promise<void> {
  const { parts, model } = run;
  const [action] = model.scheduled.splice(number % Math.max(1, model.scheduled.length), 1);
  if (action === undefined) return;
  const at = clock.now();
  await letComeDue(parts, action.id, at);
  await publicationWorker(parts).round();
  const recorded = at.getTime();
  appear(run, { ...action, recorded, conducted: recorded, refsGiven: ++model.turn });
}

export async function moderate({ parts }: Run, what: 'hide' | 'unhide', action: ModelAction): Promise<void> {
  const admin = parts.session('admin', 'admin');
  const { instant } = await during(() =>
    expectOutcome(
      what === 'hide'
        ? parts.services.hideAction(admin, action.id, null)
        : parts.services.unhideAction(admin, action.id),
      action.isDeleted ? 'NOT_FOUND' : null,
    ),
  );
  if (action.isHidden && what === 'unhide' && !action.isDeleted) {
    const { actions } = parts.repositories.collections;
    const stored = await actions.findOne({ _id: new ObjectId(action.id) });
    action.shownAt = instant(stored?.shownAt);
  }
  action.isHidden = what === 'hide';
}

export async function remove(run: Run, by: Person, action: ModelAction): Promise<void> {
  const reader = run.reader(by);
  const isTheirs = reader.roles.includes('admin') || action.actorId === reader.userId;
  const refusal = maySee(run.model, reader, action) ? 'FORBIDDEN' : 'NOT_FOUND';
  await expectOutcome(
    run.parts.services.deleteAction(session(run, by), action.id),
    isTheirs ? null : refusal,
  );
  if (isTheirs) action.isDeleted = true;
}

/** As if it had been published until now: expiry is decided when something is read, and the worker may come later. */
export async function expire({ parts }: Run, action: ModelAction): Promise<void> {
  await letExpire(parts, action.id);
  action.isDeleted = true;
}

/** The first name comes with a description, as an application would give it. */
export async function rename({ parts, model, id }: Run, step: StepTo<'rename'>): Promise<void> {
  const refId = id(step.ref);
  const { label } = step;
  if (model.names.has(refId)) await parts.services.renameRef(parts.service, refId, label);
  else await parts.services.upsertRefs(parts.service, [{ id: refId, type: 'thing', label }]);
  // The name it has already is carried nowhere.
  if (model.names.get(refId)?.label !== label) model.names.set(refId, { label, given: ++model.turn });
}
