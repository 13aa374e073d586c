import type { ErrorCode } from '../../src/domain/errors.ts';
import { carries, type Model, type ModelAction } from './model.ts';
import { expectOutcome, rolesOf, session, type Run, type StepTo } from './model-run.ts';

/** Most pins of a ref. */
const MOST_PINS = 3;

export async function pin(
  run: Run,
  { do: what, ref, by }: StepTo<'pin' | 'unpin'>,
  action: ModelAction,
): Promise<void> {
  const { parts, model } = run;
  const refId = run.id(ref);
  const mayPin = by === 'a service' || rolesOf(by).includes('admin');
  const who = by === 'a service' ? parts.session('service', 'service') : session(run, by);
  if (what === 'unpin') {
    await expectOutcome(parts.services.unpinAction(who, refId, action.id), mayPin ? null : 'FORBIDDEN');
    if (mayPin)
      model.pins.set(
        refId,
        pinsOf(model, refId).filter((id) => id !== action.id),
      );
    return;
  }
  const pins = roomFor(model, refId, action);
  const refusal = !mayPin ? 'FORBIDDEN' : (refusalOf(action, refId) ?? (pins === null ? 'CONFLICT' : null));
  await expectOutcome(parts.services.pinAction(who, refId, action.id), refusal);
  if (refusal === null && pins !== null) model.pins.set(refId, pins);
}

function pinsOf({ pins }: Model, refId: string): readonly string[] {
  return pins.get(refId) ?? [];
}

function refusalOf(action: ModelAction, refId: string): ErrorCode | null {
  if (action.isDeleted) return 'NOT_FOUND';
  return carries(action, refId) ? null : 'BAD_USER_INPUT';
}

/** The pins with another one on top; null where there is no room for it. What is there already stays where it is. */
function roomFor(model: Model, refId: string, { id }: ModelAction): readonly string[] | null {
  const pins = pinsOf(model, refId);
  if (pins.includes(id)) return pins;
  if (pins.length < MOST_PINS) return [id, ...pins];
  // What is gone or does not carry the ref any more gives way.
  const left = model.actions.filter((action) => !action.isDeleted && carries(action, refId));
  const good = pins.filter((pinned) => left.some((action) => action.id === pinned));
  return good.length < MOST_PINS ? [id, ...good] : null;
}
