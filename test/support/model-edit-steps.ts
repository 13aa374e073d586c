import type { ErrorCode } from '../../src/domain/errors.ts';
import { maySee, type Model, type ModelAction } from './model.ts';
import { clock } from '../../src/lib/clock.ts';
import { expectOutcome, found, rolesOf, session, type Run, type StepTo } from './model-run.ts';
import { descriptorFor, textOf } from './model-descriptors.ts';

const HOUR_MS = 3_600_000;

/** An edit of an action, by somebody who may do it or may not. What is absent stays. */
export async function edit(run: Run, step: StepTo<'edit'>, action: ModelAction): Promise<void> {
  const { parts, id } = run;
  const { scope, tags, isStale } = step;
  const text = step.text ?? action.text;
  const asked = action.asked === null || step.asked === undefined ? action.asked : id(step.asked);
  const mentions = step.mentions?.map(id);
  const recipients = step.recipients?.map(id);
  const refIds = step.refs?.map(id);
  const expiresAt = endOf(step.expires);
  const input = {
    ...{ scope, mentions, recipients, expiresAt },
    refs: refIds?.map((refId) => ({ id: refId, type: 'thing', label: refId })),
    descriptor: tags === undefined ? undefined : descriptorFor({ type: action.type, tags, text, asked }, id),
  };
  const editor = step.by === 'a service' ? parts.session('service', 'service') : session(run, step.by);
  const ifVersion = isStale ? action.version - 1 : action.version;
  const refusal = refusalOf(run, step, action);
  const before = clock.time();
  const work = parts.services.updateAction(editor, action.id, input, ifVersion);
  await expectOutcome(work, refusal);
  if (refusal !== null) return;
  const { editedAt, version } = await work;
  const at = found(editedAt).getTime();
  if (at < before || at > clock.time()) throw new Error('It was edited at another time');
  change(run.model, action, { scope, mentions, recipients, refIds, tags, text, asked, at });
  if (expiresAt !== undefined) action.expiresAt = expiresAt?.getTime() ?? null;
  if (action.version !== version) throw new Error('The version was not raised by one');
}

/** Long after the run. Null: none; undefined: as before. */
function endOf(expires: StepTo<'edit'>['expires']): Date | null | undefined {
  if (expires === undefined) return undefined;
  return expires === 'never' ? null : new Date(clock.time() + expires * HOUR_MS);
}

function refusalOf(run: Run, step: StepTo<'edit'>, action: ModelAction): ErrorCode | null {
  const { model } = run;
  if (step.by === 'a service') {
    if (action.isDeleted || action.isHidden) return 'NOT_FOUND';
  } else {
    const reader = run.reader(step.by);
    if (!maySee(model, reader, action)) return 'NOT_FOUND';
    const isTheirs = rolesOf(step.by).includes('admin') || action.actorId === reader.userId;
    if (!isTheirs) return 'FORBIDDEN';
  }
  if (step.isStale) return 'CONFLICT';
  const scope = step.scope ?? action.scope;
  const recipients = step.recipients ?? (scope === 'RESTRICTED' ? action.recipients : []);
  if ((scope === 'RESTRICTED') !== recipients.length > 0) return 'BAD_USER_INPUT';
  const isOfGroup = step.scope === 'TEAM' || step.scope === 'DEPARTMENT';
  return isOfGroup && groupNow(model, action, step.scope) === null ? 'BAD_USER_INPUT' : null;
}

function groupNow({ members }: Model, { actorId }: ModelAction, scope: string | undefined): string | null {
  const member = members.find(({ userId }) => userId === actorId);
  return (scope === 'TEAM' ? member?.teamId : scope === 'DEPARTMENT' ? member?.departmentId : null) ?? null;
}

function change(
  model: Model,
  action: ModelAction,
  edited: {
    readonly scope: ModelAction['scope'] | undefined;
    readonly mentions: readonly string[] | undefined;
    readonly recipients: readonly string[] | undefined;
    readonly refIds: readonly string[] | undefined;
    readonly tags: readonly string[] | undefined;
    readonly text: string;
    readonly asked: string | null;
    readonly at: number;
  },
): void {
  const { scope, at } = edited;
  if (scope !== undefined) {
    action.groupId = groupNow(model, action, scope);
    action.scope = scope;
  }
  action.mentions = edited.mentions ?? action.mentions;
  action.recipients = edited.recipients ?? (action.scope === 'RESTRICTED' ? action.recipients : []);
  if (edited.refIds !== undefined) {
    action.refIds = edited.refIds;
    action.refsGiven = ++model.turn;
  }
  action.tags = edited.tags ?? action.tags;
  if (edited.tags !== undefined) {
    action.text = textOf(action.type, edited.text);
    action.asked = edited.asked;
  }
  action.version += 1;
  concern(model, action, at);
}

function hasBlock({ blocks }: Model, one: string, other: string): boolean {
  return blocks.some(({ by, who }) => (by === one && who === other) || (by === other && who === one));
}

/** Whom an action names is concerned from then on, as long as it does. What they have from before is theirs. */
export function concern(model: Model, action: ModelAction, since: number): void {
  const { interactions, mentions, recipients, asked, scope, groupId } = action;
  const latest = Math.max(...interactions.map(({ at }) => at));
  const names = (now: readonly string[], known: Map<string, number>, former: Map<string, number>): void => {
    for (const [name, from] of known)
      if (!now.includes(name)) {
        known.delete(name);
        if (latest >= from) former.set(name, latest);
      }
    for (const name of now) if (!known.has(name)) known.set(name, since);
  };
  const people = [...mentions, ...recipients, ...(asked === null ? [] : [asked])];
  for (const name of [...action.namedInVain]) if (!people.includes(name)) action.namedInVain.delete(name);
  for (const name of people)
    if (!action.concernedPeople.has(name) && hasBlock(model, name, action.actorId))
      action.namedInVain.add(name);
  names(people, action.concernedPeople, action.formerPeople);
  const departments = scope === 'DEPARTMENT' && groupId !== null ? [groupId] : [];
  names(departments, action.concernedDepartments, action.formerDepartments);
}
