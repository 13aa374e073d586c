import type { Core } from '../../core/core.ts';
import { textSchema } from '../../descriptors/text-schema.ts';
import { idSchema } from '../../descriptors/id-schema.ts';
import type { UserId } from '../../domain/action.ts';
import { badInput, FanfareError } from '../../domain/errors.ts';
import {
  MAX_MUTES,
  MAX_PHRASE_LENGTH,
  MAX_PHRASES,
  MAX_PHRASE_WORDS,
  type MuteTarget,
} from '../../domain/mute.ts';
import { comparable, wordsOf } from '../../domain/text-forms.ts';
import { clock } from '../../lib/clock.ts';
import { announceListChange } from '../../feed/announce.ts';
import { typeSchema } from '../../feed/page/filters.ts';
import type { MuteTargetInput } from '../../core/shapes.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { validate } from '../../core/validate.ts';

/**
 * Keeps the target's actions out of the reader's feed from now on, including past ones, without changing stored entries.
 * Repeating a mute replaces its end.
 * @throws FanfareError BAD_USER_INPUT, CONFLICT when the reader has too many mutes.
 */
export async function addMute(
  core: Core,
  session: ReaderSession,
  given: MuteTargetInput,
  until?: Date | null,
): Promise<void> {
  const { userId } = session.identity;
  const target = checkTarget(given, true);
  if (isOneself(target, userId)) throw badInput('Must be somebody else', ['target', 'memberId']);
  const now = clock.now();
  if (until != null && !(until.getTime() > now.getTime()))
    throw badInput('Must be later than now', ['until']);
  if (!(await core.feedMutes.addMute(userId, { ...target, until: until ?? null }, now)))
    throw new FanfareError(
      'CONFLICT',
      `No more than ${String(MAX_MUTES)} things can be muted, ${String(MAX_PHRASES)} phrases among them`,
    );
  await announceListChange(core, [userId], 'mutes');
}

/** Ends a mute; does nothing when there is none. @throws FanfareError BAD_USER_INPUT */
export async function removeMute(core: Core, session: ReaderSession, given: MuteTargetInput): Promise<void> {
  const { userId } = session.identity;
  await core.feedMutes.removeMute(userId, checkTarget(given, false), clock.now());
  await announceListChange(core, [userId], 'mutes');
}

/** @param isNew existing mutes can be removed even if their target is no longer valid for a new mute. */
function checkTarget(given: MuteTargetInput, isNew: boolean): MuteTarget {
  const { memberId, refId, type, phrase } = given;
  const count = [memberId, refId, type, phrase].filter((value) => value != null).length;
  if (count !== 1) throw badInput('Must be exactly one of memberId, refId, type and phrase', ['target']);
  if (memberId != null) return plain('MEMBER', validate(idSchema, memberId, ['target', 'memberId']));
  if (refId != null) return plain('REF', validate(idSchema, refId, ['target', 'refId']));
  if (type != null) return plain('TYPE', validate(isNew ? typeSchema : idSchema, type, ['target', 'type']));
  return checkPhrase(phrase);
}

function plain(kind: MuteTarget['kind'], value: string): MuteTarget {
  return { kind, value, text: null };
}

const phraseSchema = textSchema(MAX_PHRASE_LENGTH)
  .transform((text) => ({ text, form: comparable(text) }))
  // Normalisation makes up to eighteen characters of one.
  .refine(({ form }) => form.length <= 2 * MAX_PHRASE_LENGTH, {
    error: `Must be at most ${String(2 * MAX_PHRASE_LENGTH)} characters in the form in which it is compared`,
    abort: true,
  })
  .transform(({ text, form }) => ({ text, words: wordsOf(form) }))
  .refine(({ words }) => words.length > 0, 'Must contain at least one word')
  .refine(({ words }) => words.length <= MAX_PHRASE_WORDS, {
    error: `Must have at most ${String(MAX_PHRASE_WORDS)} words`,
  });

function checkPhrase(phrase: unknown): MuteTarget {
  const { text, words } = validate(phraseSchema, phrase, ['target', 'phrase']);
  return { kind: 'PHRASE', value: words.join(' '), text };
}

function isOneself({ kind, value }: MuteTarget, userId: UserId): boolean {
  return kind === 'MEMBER' && value === userId;
}
