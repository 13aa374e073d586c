import type { MuteTargetInput } from '../../src/core/shapes.ts';
import { inWords, type ModelMute } from './model.ts';
import { expectOutcome, session, type Run, type StepTo } from './model-run.ts';
import type { Person } from './model-steps.ts';
import { letMuteEnd } from './mute-ends.ts';

const HOUR = 3_600_000;

export async function changeMute(run: Run, step: StepTo<'addMute' | 'removeMute'>): Promise<void> {
  const { do: what, by, kind, hasEnd } = step;
  const { services } = run.parts;
  const value = kind === 'MEMBER' || kind === 'REF' ? run.id(step.value) : step.value;
  const refusal = what === 'addMute' && kind === 'MEMBER' && by === step.value ? 'BAD_USER_INPUT' : null;
  const until = hasEnd ? new Date(Date.now() + HOUR) : null;
  const target = targetOf(kind, value);
  const work =
    what === 'addMute'
      ? services.addMute(session(run, by), target, until)
      : services.removeMute(session(run, by), target);
  await expectOutcome(work, refusal);
  const key = kind === 'PHRASE' ? inWords(value).trim() : value;
  if (refusal === null) note(run, by, { kind, value: key, hasEnd }, what === 'addMute');
}

/** Reads go by the clock; watchers are notified when there is work. */
export async function endMute(run: Run, { by, mute: number }: StepTo<'endMute'>): Promise<void> {
  const { mutes } = run.reader(by);
  const ending = mutes.filter(({ hasEnd }) => hasEnd);
  const one = ending[number % ending.length];
  if (one === undefined) return;
  await letMuteEnd(run.parts, run.id(by), one);
  note(run, by, one, false);
}

/** Adding again replaces the end. */
function note(run: Run, by: Person, mute: ModelMute, isMuted: boolean): void {
  const reader = run.reader(by);
  reader.mutes = reader.mutes.filter(({ kind, value }) => kind !== mute.kind || value !== mute.value);
  if (isMuted) reader.mutes.push(mute);
}

function targetOf(kind: ModelMute['kind'], value: string): MuteTargetInput {
  switch (kind) {
    case 'MEMBER':
      return { memberId: value };
    case 'REF':
      return { refId: value };
    case 'TYPE':
      return { type: value };
    case 'PHRASE':
      return { phrase: value };
  }
}
