import { ObjectId } from 'mongodb';
import { expect } from 'vitest';
import type { ErrorCode } from '../../src/domain/errors.ts';
import type { Interaction } from '../../src/domain/interaction.ts';
import type { ChangedInteraction } from '../../src/core/shapes.ts';
import { toDate } from './model-action-steps.ts';
import {
  interactionsFor,
  isBlocked,
  maySee,
  repeat,
  repeatedBy,
  takeBack,
  type ModelAction,
  type ModelInteraction,
} from './model.ts';
import { during, expectOutcome, found, session, type Run, type StepTo } from './model-run.ts';
import type { Parts } from './parts.ts';

export async function interact(run: Run, step: StepTo<'interact'>, action: ModelAction): Promise<void> {
  const { parts, model, id } = run;
  const { kind, key } = step;
  // Only services tell what happened long ago.
  const byService = step.byService || typeof step.at === 'number';
  const actorId = id(step.actor);
  const at = toDate(step.at);
  const reaction = kind === 'REACTION' ? step.reaction : null;
  const text = kind === 'COMMENT' ? (step.words ?? null) : null;
  const parent = kind === 'COMMENT' ? repliedTo(action, step.replyTo ?? null) : null;
  const parentId = parent?.id ?? null;
  const mentions = kind === 'COMMENT' ? (step.mentions ?? []).map(id) : [];
  const input = {
    actionId: action.id,
    kind,
    reaction,
    text,
    parentId,
    mentions,
    actorId,
    idempotencyKey: key,
    at,
  };
  const actor = run.reader(step.actor);
  // A service has no more rights than any member it acts for.
  const roles = byService ? (['user'] as const) : actor.roles;
  const isSeen = maySee(model, { ...actor, roles }, action);
  const by = byService ? parts.session('service', 'service') : session(run, step.actor);
  const isKept = parent !== null && isBlocked(model, { ...actor, roles }, parent.actorId);
  const misplaced = !isSeen ? null : isKept ? 'NOT_FOUND' : cannotReplyTo(parent);
  const isTaken = isSeen && misplaced === null;
  const known = isTaken ? repeatedBy(action, { kind, reaction, actorId, key }) : undefined;
  if (known !== undefined) repeat(known, key);
  const isWithheld = known?.state === 'HIDDEN' && !roles.includes('admin');
  const refusal: ErrorCode | null = !isSeen ? 'NOT_FOUND' : isWithheld ? 'CONFLICT' : misplaced;
  const answers: ChangedInteraction[] = [];
  const { instant } = await during(() =>
    expectOutcome(
      parts.services.addInteraction(by, input).then((answer) => answers.push(answer)),
      refusal,
    ),
  );
  if (refusal !== null) return;
  const { interaction } = found(answers[0]);
  if (known !== undefined) {
    known.passedOn = interaction.passedOn?.getTime() ?? null;
    expect([interaction.id, interaction.state]).toEqual([known.id, known.state]);
    return;
  }
  const isGiven = typeof step.at === 'number' || typeof step.at === 'object';
  const stored = isGiven ? found(at).getTime() : instant(interaction.at);
  const shownAt = await shownSince(parts, interaction.id);
  expect(interaction.passedOn !== null).toBe(kind === 'RESHARE' && action.scope === 'PUBLIC');
  const departmentIds = [actorId, action.actorId].map(
    (userId) => model.members.find((member) => member.userId === userId)?.departmentId ?? null,
  );
  action.interactions.push({
    ...{ id: interaction.id, kind, reaction, text, parentId, actorId, at: stored, departmentIds },
    // What was told long after is no news.
    shownAt: typeof step.at === 'number' ? stored : instant(shownAt),
    ...{ keys: key === null ? [] : [key], state: 'VISIBLE', wasHidden: false, editedAt: null },
    passedOn: interaction.passedOn?.getTime() ?? null,
    notFor: model.blocks
      .flatMap(({ by: blocking, who }) => [blocking, who])
      .filter((otherId) => otherId !== actorId && isBlocked(model, { ...actor, roles }, otherId)),
    mentions: model.readers
      .filter(({ userId }) => userId !== actorId && mentions.includes(userId))
      // What they may see by a role is not known then.
      .filter((reader) => maySee(model, { ...reader, roles: ['user'] }, action))
      // What a block keeps away does not come when it ends.
      .filter((reader) => !isBlocked(model, { ...reader, roles: ['user'] }, actorId))
      .map(({ userId }) => userId),
  });
}

async function shownSince({ repositories }: Parts, id: string): Promise<Date | undefined> {
  const { interactions } = repositories.collections;
  return (await interactions.findOne({ _id: new ObjectId(id) }))?.shownAt;
}

/** A number picks one. */
function pickedFrom(
  { interactions }: Pick<ModelAction, 'interactions'>,
  number: number | null,
): ModelInteraction | null {
  return number === null ? null : (interactions[number % Math.max(1, interactions.length)] ?? null);
}

/** Mostly a comment, if there is one: other interactions take no replies. */
function repliedTo(action: ModelAction, number: number | null): ModelInteraction | null {
  const comments = action.interactions.filter((one) => one.kind === 'COMMENT');
  const isAny = number === null || number === 3 || comments.length === 0;
  return pickedFrom(isAny ? action : { interactions: comments }, number);
}

/** A comment that all may see, and that replies to nothing. */
function cannotReplyTo(parent: ModelInteraction | null): ErrorCode | null {
  if (parent === null) return null;
  if (parent.state !== 'VISIBLE') return 'NOT_FOUND';
  return parent.kind !== 'COMMENT' || parent.parentId !== null ? 'BAD_USER_INPUT' : null;
}

/** Another text of a comment: it lifts nothing. */
export async function editInteraction(
  run: Run,
  { by, interaction: number, words }: StepTo<'editInteraction'>,
  action: ModelAction,
): Promise<void> {
  const interaction = pickedFrom(action, number);
  if (interaction === null) return;
  const reader = run.reader(by);
  const isAdmin = reader.roles.includes('admin');
  const isShown =
    maySee(run.model, reader, action) && interactionsFor(run.model, reader, action).includes(interaction);
  const mayEdit = isAdmin || interaction.actorId === reader.userId;
  const kindRefusal = interaction.kind === 'COMMENT' ? null : 'BAD_USER_INPUT';
  const refusal: ErrorCode | null = !isShown ? 'NOT_FOUND' : !mayEdit ? 'FORBIDDEN' : kindRefusal;
  const answers: Interaction[] = [];
  const { instant } = await during(() =>
    expectOutcome(
      run.parts.services
        .updateInteraction(session(run, by), interaction.id, words)
        .then((answer) => answers.push(answer)),
      refusal,
    ),
  );
  // The text it has already is no change.
  if (refusal !== null || interaction.text === words) return;
  interaction.text = words;
  interaction.editedAt = instant(answers[0]?.editedAt ?? undefined);
}

export async function takeBackOwn(run: Run, step: StepTo<'takeBack'>, action: ModelAction): Promise<void> {
  const { kind } = step;
  const reaction = kind === 'REACTION' ? step.reaction : null;
  const reader = run.reader(step.by);
  const theirs = action.interactions.filter(
    (one) =>
      one.actorId === reader.userId && one.kind === kind && (reaction === null || one.reaction === reaction),
  );
  const isThere = maySee(run.model, reader, action) && theirs.length > 0;
  await expectOutcome(
    run.parts.services.removeInteraction(session(run, step.by), {
      own: { actionId: action.id, kind, reaction },
    }),
    isThere ? null : 'NOT_FOUND',
  );
  if (isThere) theirs.forEach(takeBack);
}

export async function moderateInteraction(
  { parts }: Run,
  { do: what, interaction: number }: StepTo<'hideInteraction' | 'unhideInteraction'>,
  action: ModelAction,
): Promise<void> {
  const { interactions } = action;
  const interaction = interactions[number % Math.max(1, interactions.length)];
  if (interaction === undefined) return;
  const isThere = !action.isDeleted && interaction.state !== 'REMOVED';
  const admin = parts.session('admin', 'admin');
  const { instant } = await during(() =>
    expectOutcome(
      what === 'hideInteraction'
        ? parts.services.hideInteraction(admin, interaction.id, null)
        : parts.services.unhideInteraction(admin, interaction.id),
      isThere ? null : 'NOT_FOUND',
    ),
  );
  if (interaction.state === 'HIDDEN' && what === 'unhideInteraction' && isThere)
    interaction.shownAt = instant(await shownSince(parts, interaction.id));
  if (isThere) interaction.state = what === 'hideInteraction' ? 'HIDDEN' : 'VISIBLE';
}
